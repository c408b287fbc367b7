// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the communicators that the process knows: handle -> id, identity and size, and their records in the spool.
#pragma once

#include "collector/mpi/gid.hpp"
#include "collector/mpi/handle_table.hpp"

#include <mpi.h>

#include <cstdint>

namespace critpath::preload
{

class SpoolWriter;

struct Communicator {
    Gid gid;
    std::int32_t id = -1;
    std::int32_t rank = 0;   // of this process in its group
    std::int32_t size = 0;   // of its group
    std::int32_t peers = 0;  // size of the group that ranks in calls refer to: the remote one, if there is one
    bool is_inter = false;
    std::uint64_t children = 0;  // communicators made collectively from it
    std::uint64_t windows = 0;   // that its members tried to make on it; also `files`
    std::uint64_t files = 0;
};

/// How a communicator came to be, as far as its identity depends on it.
struct Origin {
    GidKind kind;            // Child, Group, Inter, or Meeting (accept and connect, join)
    Gid parent;              // zero for Inter and Meeting: the two sides have different parents, or none
    std::uint64_t sequence;  // Child: which one of its parent
    int tag;                 // Group and Inter
};

/// The methods take the table lock of the process unless they say otherwise. They are called inside a wrapper.
class Communicators
{
public:
    /// MPI_COMM_WORLD is 0 and MPI_COMM_SELF is 1; both get their records.
    void start(SpoolWriter& spool);

    /// The communicator, or nullptr if it is not known (dynamic processes). The caller holds the lock.
    Communicator* find(MPI_Comm comm);

    /// Id of `comm`, or -1.
    std::int32_t id(MPI_Comm comm);

    /// A copy of what is known of `comm`; id -1 if that is nothing.
    Communicator look_up(MPI_Comm comm);

    /// Registers `comm`, whose groups are those of `like` (`comm` itself, unless it may not be used yet), and writes
    /// its records. Returns its id, or -1 if it cannot be described by ranks of MPI_COMM_WORLD.
    std::int32_t add(MPI_Comm comm, MPI_Comm like, const Origin& origin, SpoolWriter& spool);

    /// Another communicator was made collectively from `parent`. False if `parent` is not known.
    bool next_child(MPI_Comm parent, Origin& origin);

    /// Forgets the communicator, unless another thread has got its handle for a new one in the meantime.
    void remove(MPI_Comm comm, std::int32_t id);

private:
    std::int32_t insert(MPI_Comm comm, Communicator communicator);

    HandleTable<Communicator> table_;
    HandleTable<std::uint64_t> sequences_;  // of communicators that their parent does not number, by group_key
    std::int32_t next_id_ = 0;
};

}  // namespace critpath::preload

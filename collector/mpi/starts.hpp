// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a call posts that its own record cannot say: the requests that MPI_Startall starts, persistent collectives,
// both halves of MPI_Isendrecv, and the message of which MPI_Pready was the last partition.
#pragma once

#include "collector/mpi/completion.hpp"

namespace critpath::preload
{

/// A persistent request becomes active: a new post. Under the lock of the tables.
inline void begin(Request& request, Call& call)
{
    request.id = process.requests.next_id();
    request.active = true;
    request.finished = false;
    request.untold = call.dropped();
    request.since = call.since();
}

/// Messages are counted where they are not recorded (skip_posted). All but write() under the lock of the tables.
class Starts
{
public:
    Starts(Thread& thread, int capacity)
        : thread_(thread), capacity_(static_cast<std::uint32_t>(capacity > 0 ? capacity : 1)),
          items_(thread.completions.room<Item>(capacity_))
    {
    }

    /// The persistent request in the application's variable at `location` has started.
    void start(Call& call, MPI_Request handle, const void* location);
    void start(Call& call, Requests::Index index);

    /// `request` is that of a message. Nothing if it is one to or from MPI_PROC_NULL.
    void message(const Request& request);

    /// MPI_Isendrecv, whose receive is `request`.
    void sendrecv(Call& call, const Request& request, const Special& special);

    /// Appends the record of the call, and of what it posts.
    void write(Call& call) const;

private:
    /// Messages stand at the front, in their order, and collectives at the back, in the opposite order.
    struct Item {
        Completion slot;
        FunctionId function;     // of a collective: what was started,
        std::uint64_t received;  // and what this rank gets
    };

    void collective(Call& call, Request& request, const Special& special);
    void append_collectives(Call& call) const;

    Thread& thread_;
    std::uint32_t capacity_;
    Item* items_;  // null: there is no memory
    std::uint32_t messages_ = 0;
    std::uint32_t collectives_ = 0;
};

/// Of a call that makes partitions of a send ready. To be made before the call: behind it, another thread may already
/// have seen that the send is complete.
class ReadyPartitions
{
public:
    ReadyPartitions(Call& call, int partitions, MPI_Request handle);

    /// The call has failed: they are not.
    void take_back() const;

    /// The message, if these were its last partitions; else null.
    [[nodiscard]] const Request* message() const { return is_last_ ? &message_ : nullptr; }

private:
    std::uint64_t key_;
    int partitions_ = 0;  // that were counted
    bool is_last_ = false;
    Request message_;
};

}  // namespace critpath::preload

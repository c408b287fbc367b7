// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what every way to reduce instances needs: how two parts of one instance are merged inside MPI, what this process
// knows of a side, who else takes part, and how many instances there are.
#pragma once

#include "replayer/collect/instances.hpp"

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

namespace critpath::replayer
{

/// The reduction operation and its datatype, one element an instance, for as long as they are needed.
class Reduction
{
public:
    Reduction();
    Reduction(const Reduction&) = delete;
    Reduction& operator=(const Reduction&) = delete;
    ~Reduction();

    [[nodiscard]] MPI_Datatype type() const { return type_; }
    [[nodiscard]] MPI_Op op() const { return op_; }

private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    MPI_Op op_ = MPI_OP_NULL;
};

/// What the owned members of a side know of instances `first`, `first` + 1, ... of it: of as many as `instances` has,
/// which have no content yet.
void merge_own(const Members& members, Side side, std::uint32_t first, std::span<rules::Instance> instances);

/// Length of the instance sequence of each side, over all processes. Collective over `replay.comm`.
std::vector<std::uint32_t> agree_on_lengths(const Replay& replay, const Members& members);

/// Processes of the replay that hold members of the side, ascending.
std::vector<int> owners(const Replay& replay, const Members& members, Side side);

/// Processes of the replay that hold members of the side, or of the side that depends on it, ascending.
std::vector<int> takers(const Replay& replay, const Members& members, Side side);

/// Whether this process has members on the side or on its partner side, so that it has to know the instances.
bool has_members(const Members& members, Side side);

/// Every process is alone on MPI_COMM_SELF, whatever others do on theirs.
bool is_private(const Replay& replay, Side side);

/// Counts whole instances of a side of `size` members into `result`, and sums what all processes have counted; each
/// instance is counted by one process. The sum is collective over `replay.comm`.
void count(std::span<const rules::Instance> instances, std::size_t size, InstanceCounts& result);
void sum_counts(const Replay& replay, InstanceCounts& result);

}  // namespace critpath::replayer

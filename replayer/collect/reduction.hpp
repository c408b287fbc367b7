// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what every way to reduce instances needs: how two parts of one instance are merged inside MPI, what this process
// knows of a side, who else takes part, and how many instances there are.
#pragma once

#include "replayer/collect/instances.hpp"

#include <mpi.h>

#include <cstdint>
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

/// The longest of the owned members' sequences, merged over them.
std::vector<rules::Instance> own_part(const Members& members, Side side);

/// Length of the instance sequence of each side, over all processes. Collective over `replay.comm`.
std::vector<std::uint32_t> agree_on_lengths(const Replay& replay, const Members& members);

/// Processes of the replay that hold members of the side, ascending.
std::vector<int> owners(const Replay& replay, const Members& members, Side side);

/// Whether this process has members on the side or on its partner side, so that it has to know the instances.
bool has_members(const Members& members, Side side);

/// Every process is alone on MPI_COMM_SELF, whatever others do on theirs.
bool is_private(const Replay& replay, Side side);

/// Counts whole instances of a side of `size` members into `result`, and sums what all processes have counted; each
/// side is counted by one process. The sum is collective over `replay.comm`.
void count(const std::vector<rules::Instance>& instances, std::size_t size, Instances& result);
void sum_counts(const Replay& replay, Instances& result);

}  // namespace critpath::replayer

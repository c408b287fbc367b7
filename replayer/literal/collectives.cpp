// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The re-execution of collectives, one reduction for each instance, over the processes that hold its members. (Seed,
// section 4, step 2)
//
// All go through the sides in one order, and through the instances of a side in theirs. Among the reductions that have
// not ended, the first one in this order has all its processes at it: what they have to do before it, has ended. So
// communicators that overlap (rows and columns) do not stand in each other's way. How many instances a side has is
// agreed on first; where a recording ended early, the missing members bring nothing.
#include "replayer/collect/reduction.hpp"
#include "replayer/literal/groups.hpp"
#include "replayer/literal/literal.hpp"

#include <algorithm>
#include <span>

namespace critpath::replayer::literal
{

namespace
{

void reduce_one_by_one(MPI_Comm comm, const Reduction& reduction, std::span<rules::Instance> instances)
{
    for (rules::Instance& instance : instances)
        MPI_Allreduce(MPI_IN_PLACE, &instance, 1, reduction.type(), reduction.op(), comm);
}

}  // namespace

InstanceCounts reduce_instances(const Replay& replay, const Members& members, const VisitInstances& visit)
{
    constexpr std::uint32_t tags = 32767;  // that every MPI has
    constexpr std::uint32_t window = 4096;
    InstanceCounts counts;
    const auto lengths = agree_on_lengths(replay, members);
    const Reduction reduction;
    Groups groups(replay);
    for (std::uint32_t value = 0; value < lengths.size(); ++value) {
        const Side side{value};
        if (lengths[value] == 0 || is_private(replay, side))
            continue;
        const std::vector<int> processes = takers(replay, members, side);
        if (!std::ranges::binary_search(processes, replay.rank))
            continue;
        for (std::uint32_t first = 0; first < lengths[value]; first += window) {
            std::vector<rules::Instance> instances(std::min(window, lengths[value] - first));
            merge_own(members, side, first, instances);
            if (processes.size() > 1)
                reduce_one_by_one(groups.of(processes, static_cast<int>(value % tags)), reduction, instances);
            if (processes.front() == replay.rank)
                count(instances, members.size(side), counts);
            if (has_members(members, side))
                visit(side, first, instances);
        }
    }
    groups.close();
    sum_counts(replay, counts);
    return counts;
}

}  // namespace critpath::replayer::literal

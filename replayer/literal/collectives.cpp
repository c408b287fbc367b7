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
#include <utility>

namespace critpath::replayer::literal
{

namespace
{

/// Processes of the replay that hold members of the side, or of the side that depends on it, ascending.
std::vector<int> takers(const Replay& replay, const Members& members, Side side)
{
    std::vector<int> result = owners(replay, members, side);
    if (members.is_inter(side)) {
        std::vector<int> both;
        std::ranges::set_union(result, owners(replay, members, side.partner(true)), std::back_inserter(both));
        result = std::move(both);
    }
    return result;
}

void reduce_one_by_one(MPI_Comm comm, const Reduction& reduction, std::vector<rules::Instance>& instances)
{
    for (rules::Instance& instance : instances)
        MPI_Allreduce(MPI_IN_PLACE, &instance, 1, reduction.type(), reduction.op(), comm);
}

}  // namespace

Instances reduce_instances(const Replay& replay, const Members& members)
{
    constexpr std::uint32_t tags = 32767;  // that every MPI has
    Instances result;
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
        std::vector<rules::Instance> instances = own_part(members, side);
        instances.resize(lengths[value]);
        if (processes.size() > 1)
            reduce_one_by_one(groups.of(processes, static_cast<int>(value % tags)), reduction, instances);
        if (processes.front() == replay.rank)
            count(instances, members.size(side), result);
        if (has_members(members, side))
            result.by_side[value] = std::move(instances);
    }
    groups.close();
    sum_counts(replay, result);
    return result;
}

}  // namespace critpath::replayer::literal

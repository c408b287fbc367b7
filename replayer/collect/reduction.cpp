// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/reduction.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace critpath::replayer
{

using rules::Instance;

namespace
{

void merge_instances(void* in, void* inout, int* count, MPI_Datatype*)
{
    const auto* from = static_cast<const Instance*>(in);
    auto* into = static_cast<Instance*>(inout);
    for (int i = 0; i < *count; ++i)
        into[i].merge(from[i]);
}

}  // namespace

Reduction::Reduction()
{
    MPI_Type_contiguous(sizeof(Instance), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
    MPI_Op_create(merge_instances, 1, &op_);
}

Reduction::~Reduction()
{
    MPI_Op_free(&op_);
    MPI_Type_free(&type_);
}

void merge_own(const Members& members, Side side, std::uint32_t first, std::span<Instance> instances)
{
    members.for_each_part(
        side, instances.size(), [&](std::size_t i) { return first + static_cast<std::uint32_t>(i); },
        [&](const Part& part, std::size_t i) { instances[i].add(members.describe(part)); });
}

void count(std::span<const Instance> instances, std::size_t size, InstanceCounts& result)
{
    for (const Instance& instance : instances) {
        if (instance.members == 0)
            continue;  // not recorded by anybody
        ++result.all;
        result.incomplete += instance.members < size ? 1 : 0;
        result.mismatched += instance.mismatched() ? 1 : 0;
        result.unknown += functions::FunctionId{instance.least_function} >= functions::FunctionId::count ? 1 : 0;
    }
}

std::vector<int> owners(const Replay& replay, const Members& members, Side side)
{
    std::vector<int> result;
    for (const model::ProcessId process : members.group(side))
        result.push_back(replay.owner_of(process));
    std::ranges::sort(result);
    result.erase(std::unique(result.begin(), result.end()), result.end());
    return result;
}

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

std::vector<std::uint32_t> agree_on_lengths(const Replay& replay, const Members& members)
{
    std::vector<std::uint32_t> lengths(Side::per_communicator * replay.definitions.communicators.size(), 0);
    for (const auto& [side, list] : members.sides())
        for (const MemberCalls& member : list)
            lengths[side] = std::max(lengths[side], static_cast<std::uint32_t>(member.calls.size()));
    MPI_Allreduce(MPI_IN_PLACE, lengths.data(), static_cast<int>(lengths.size()), MPI_UINT32_T, MPI_MAX, replay.comm);
    return lengths;
}

bool has_members(const Members& members, Side side)
{
    return !members.of(side).empty() || !members.of(side.partner(members.is_inter(side))).empty();
}

bool is_private(const Replay& replay, Side side)
{
    return replay.definitions.communicators[side.comm().value].is_self;
}

void sum_counts(const Replay& replay, InstanceCounts& result)
{
    std::uint64_t counts[4] = {result.all, result.incomplete, result.mismatched, result.unknown};
    MPI_Allreduce(MPI_IN_PLACE, counts, 4, MPI_UINT64_T, MPI_SUM, replay.comm);
    result.all = counts[0];
    result.incomplete = counts[1];
    result.mismatched = counts[2];
    result.unknown = counts[3];
}

}  // namespace critpath::replayer

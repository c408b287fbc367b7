// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/collect.hpp"

#include "replayer/pair/lookup.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using rules::CollectiveKey;

constexpr std::size_t member_buckets = 33;
constexpr std::size_t keys =
    static_cast<std::size_t>(functions::FunctionId::count) * rules::size_buckets * member_buckets;

std::size_t index_of(const CollectiveKey& key)
{
    return (static_cast<std::size_t>(key.function) * rules::size_buckets + static_cast<std::size_t>(key.bytes_bucket)) *
               member_buckets +
           static_cast<std::size_t>(key.members_bucket);
}

CollectiveKey key_at(std::size_t index)
{
    return {static_cast<functions::FunctionId>(index / member_buckets / rules::size_buckets),
            static_cast<int>(index / member_buckets % rules::size_buckets), static_cast<int>(index % member_buckets)};
}

/// The fastest completion of each kind of collective on this process.
std::map<CollectiveKey, Ns> examples(const Replay& replay, const Collectives& collectives)
{
    std::map<CollectiveKey, Ns> fastest;
    for (std::size_t p = 0; p < replay.processes.size(); ++p)
        for (std::size_t i = 0; i < replay.processes[p].collectives.size(); ++i) {
            const rules::Member member = collectives.members.describe(p, i);
            const rules::CollectiveCase instance = collectives.of(p, i);
            if (!replay.processes[p].collectives[i].is_blocking())
                continue;  // who waits for it decides when it ends
            if (member.function >= functions::FunctionId::count || !usable(*instance.instance, instance.size))
                continue;
            const rules::Waiting call{member.enter.call, member.enter.time, member.leave, Ns{0}, Ns{0}};
            const Ns example = rules::completion_example(call, member, instance);
            if (example < Ns{0})
                continue;
            const CollectiveKey key{member.function, rules::size_bucket(instance.instance->bytes),
                                    rules::size_bucket(instance.size)};
            const auto [entry, is_new] = fastest.try_emplace(key, example);
            entry->second = std::min(entry->second, example);
        }
    return fastest;
}

void learn(const Replay& replay, const Collectives& collectives, rules::Calibration& calibration)
{
    const auto fastest = examples(replay, collectives);
    std::vector<std::uint8_t> present(keys, 0);
    for (const auto& [key, ns] : fastest)
        present[index_of(key)] = 1;
    MPI_Allreduce(MPI_IN_PLACE, present.data(), static_cast<int>(keys), MPI_UINT8_T, MPI_MAX, replay.comm);
    std::vector<CollectiveKey> agreed;
    std::vector<std::int64_t> least;
    for (std::size_t i = 0; i < keys; ++i)
        if (present[i] != 0) {
            agreed.push_back(key_at(i));
            const auto found = fastest.find(agreed.back());
            least.push_back(found == fastest.end() ? INT64_MAX : found->second.count());
        }
    MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT64_T, MPI_MIN, replay.comm);
    for (std::size_t i = 0; i < agreed.size(); ++i)
        calibration.collectives[agreed[i]] = Ns{least[i]};
}

}  // namespace

rules::CollectiveCase Collectives::of(std::size_t process, std::size_t collective) const
{
    const Part& part = members.part(process, collective);
    const bool inter = members.is_inter(part.side);
    const Side side = part.side.partner(inter);
    return {members.operation(process, collective), inter, members.neighbours(part.side).known(part.rank),
            members.size(side), &instances.at(side, part.number)};
}

Collectives collect(const Replay& replay, rules::Calibration& calibration, ReduceInstances reduce)
{
    Members members(replay);
    Instances instances = reduce(replay, members);
    Collectives result{std::move(members), std::move(instances)};
    learn(replay, result, calibration);
    return result;
}

}  // namespace critpath::replayer

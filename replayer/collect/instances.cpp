// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/instances.hpp"

#include "replayer/collect/reduction.hpp"
#include "replayer/exchange.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using rules::Instance;

constexpr std::size_t window = 4096;  // instances a reduction: as many as stay in the cache
constexpr std::size_t windows_in_flight = 8;

/// Merges the vectors of all processes, a window at a time, several of them under way.
void reduce_windows(MPI_Comm comm, const Reduction& reduction, std::vector<Instance>& instances)
{
    std::vector<MPI_Request> requests;
    const auto finish = [&] {
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
        requests.clear();
    };
    for (std::size_t begin = 0; begin < instances.size(); begin += window) {
        const auto length = static_cast<int>(std::min(window, instances.size() - begin));
        MPI_Iallreduce(MPI_IN_PLACE, instances.data() + begin, length, reduction.type(), reduction.op(), comm,
                       &requests.emplace_back());
        if (requests.size() == windows_in_flight)
            finish();
    }
    finish();
}

struct Numbered {
    std::uint32_t side, number;
    Instance instance;
};

/// Sides that are reduced at one process: partial knowledge goes there, the whole comes back to whoever has members.
void reduce_small(const Replay& replay, const Members& members, const std::vector<Side>& sides, Instances& result)
{
    const auto home_of = [&](Side side) {
        return static_cast<std::size_t>(side.value / 2) % static_cast<std::size_t>(replay.size);
    };
    std::vector<std::vector<Numbered>> to_home(static_cast<std::size_t>(replay.size));
    for (const Side side : sides) {
        const auto part = own_part(members, side);
        for (std::uint32_t n = 0; n < part.size(); ++n)
            to_home[home_of(side)].push_back({side.value, n, part[n]});
    }
    std::unordered_map<std::uint32_t, std::vector<Instance>> whole;
    for (const Numbered& item : replayer::exchange(replay.comm, to_home).items) {
        auto& instances = whole[item.side];
        instances.resize(std::max<std::size_t>(instances.size(), item.number + 1));
        instances[item.number].merge(item.instance);
    }
    std::vector<std::vector<Numbered>> back(static_cast<std::size_t>(replay.size));
    for (const auto& [value, instances] : whole) {
        const Side side{value};
        count(instances, members.size(side), result);
        auto to = owners(replay, members, side);
        if (members.is_inter(side))
            for (const int more : owners(replay, members, side.partner(true)))
                if (std::ranges::find(to, more) == to.end())
                    to.push_back(more);
        for (const int process : to)
            for (std::uint32_t n = 0; n < instances.size(); ++n)
                back[static_cast<std::size_t>(process)].push_back({value, n, instances[n]});
    }
    for (const Numbered& item : replayer::exchange(replay.comm, back).items) {
        auto& instances = result.by_side[item.side];
        instances.resize(std::max<std::size_t>(instances.size(), item.number + 1));
        instances[item.number] = item.instance;
    }
}

}  // namespace

const rules::Instance& Instances::at(Side side, std::uint32_t number) const
{
    static const Instance nothing;
    const auto found = by_side.find(side.value);
    if (found == by_side.end() || number >= found->second.size())
        return nothing;
    return found->second[number];
}

Instances reduce_instances(const Replay& replay, const Members& members)
{
    Instances result;
    const auto lengths = agree_on_lengths(replay, members);
    const Reduction reduction;
    std::vector<Side> small;
    for (std::uint32_t value = 0; value < lengths.size(); ++value) {
        const Side side{value};
        if (lengths[value] == 0 || is_private(replay, side))
            continue;
        if (4 * owners(replay, members, side).size() <= static_cast<std::size_t>(replay.size)) {
            small.push_back(side);
            continue;
        }
        std::vector<Instance> instances = own_part(members, side);
        instances.resize(lengths[value]);
        reduce_windows(replay.comm, reduction, instances);
        if (replay.rank == 0)
            count(instances, members.size(side), result);
        if (has_members(members, side))
            result.by_side[value] = std::move(instances);
    }
    reduce_small(replay, members, small, result);
    sum_counts(replay, result);
    return result;
}

bool usable(const rules::Instance& instance, std::size_t size)
{
    return instance.members >= size && !instance.mismatched();
}

}  // namespace critpath::replayer

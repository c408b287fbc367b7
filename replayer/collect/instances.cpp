// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/instances.hpp"

#include "replayer/collect/reduction.hpp"
#include "replayer/exchange.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

using rules::Instance;

constexpr std::size_t window = 1024;  // instances a reduction: several of them stay in the cache
constexpr std::size_t windows_in_flight = 4;

/// Reduces the instances of one side over all processes, a window at a time, several of them under way.
class WideSide
{
public:
    WideSide(const Replay& replay, const Members& members, const Reduction& reduction, const VisitInstances& visit,
             InstanceCounts& counts)
        : replay_(replay), members_(members), reduction_(reduction), visit_(visit), counts_(counts)
    {
    }

    WideSide(const WideSide&) = delete;
    WideSide& operator=(const WideSide&) = delete;
    /// After a failure, MPI may still write into what is under way: that is left to it.
    ~WideSide()
    {
        if (!under_way_.empty()) [[maybe_unused]]
            const auto* left = new std::deque<Window>(std::move(under_way_));
    }

    /// Collective.
    void reduce(Side side, std::uint32_t length)
    {
        for (std::size_t begin = 0; begin < length; begin += window) {
            if (begin >= windows_in_flight * window)
                finish_first(side);
            start(side, static_cast<std::uint32_t>(begin), std::min(window, length - begin));
        }
        while (!under_way_.empty())
            finish_first(side);
    }

private:
    struct Window {
        std::uint32_t first;
        std::vector<Instance> instances;
        MPI_Request request = MPI_REQUEST_NULL;
    };

    void start(Side side, std::uint32_t first, std::size_t length)
    {
        Window& next = under_way_.emplace_back(Window{first, std::vector<Instance>(length)});
        merge_own(members_, side, first, next.instances);
        MPI_Iallreduce(MPI_IN_PLACE, next.instances.data(), static_cast<int>(length), reduction_.type(),
                       reduction_.op(), replay_.comm, &next.request);
    }

    void finish_first(Side side)
    {
        Window& done = under_way_.front();
        MPI_Wait(&done.request, MPI_STATUS_IGNORE);
        if (replay_.rank == 0)
            count(done.instances, members_.size(side), counts_);
        if (has_members(members_, side))
            visit_(side, done.first, done.instances);
        under_way_.pop_front();
    }

    const Replay& replay_;
    const Members& members_;
    const Reduction& reduction_;
    const VisitInstances& visit_;
    InstanceCounts& counts_;
    std::deque<Window> under_way_;
};

struct Numbered {
    std::uint32_t side, number;
    Instance instance;
};

/// Reduces sides that each have their home at one process: partial knowledge goes there, the whole comes back to
/// whoever has members. In rounds of some instances of each side.
class NarrowSides
{
public:
    NarrowSides(const Replay& replay, const Members& members, const VisitInstances& visit, InstanceCounts& counts)
        : replay_(replay), members_(members), visit_(visit), counts_(counts)
    {
    }

    /// `sides`, and their `lengths`, are the same on all processes. Collective.
    void reduce(const std::vector<Side>& sides, const std::vector<std::uint32_t>& lengths)
    {
        const std::size_t all = window * windows_in_flight * static_cast<std::size_t>(replay_.size);
        for (std::uint32_t first = 0;;) {
            std::uint32_t longest = 0;
            std::size_t left = 0;
            for (const Side side : sides) {
                longest = std::max(longest, lengths[side.value]);
                left += lengths[side.value] > first ? 1 : 0;
            }
            if (left == 0)
                return;
            const auto some = static_cast<std::uint32_t>(std::max<std::size_t>(all / left, 1));
            const std::uint32_t end = longest - first > some ? first + some : longest;
            bring_back(first, at_home(sides, lengths, first, end));
            first = end;
        }
    }

private:
    using BySide = std::map<std::uint32_t, std::vector<Instance>>;  // instances from the first of a round on

    static void put(BySide& sides, std::uint32_t first, const Numbered& item)
    {
        auto& instances = sides[item.side];
        instances.resize(std::max<std::size_t>(instances.size(), item.number - first + 1));
        instances[item.number - first].merge(item.instance);
    }

    /// The whole instances of the sides whose home is here.
    [[nodiscard]] BySide at_home(const std::vector<Side>& sides, const std::vector<std::uint32_t>& lengths,
                                 std::uint32_t begin, std::uint32_t end) const
    {
        auto to_home = lists_for<Numbered>(replay_.size);
        std::vector<Instance> own;
        for (const Side side : sides) {
            if (lengths[side.value] <= begin || members_.of(side).empty())
                continue;
            own.assign(std::min(end, lengths[side.value]) - begin, {});
            merge_own(members_, side, begin, own);
            const auto home = static_cast<std::size_t>(side.comm().value) % static_cast<std::size_t>(replay_.size);
            for (std::uint32_t n = 0; n < own.size(); ++n)
                if (own[n].members > 0)
                    to_home[home].push_back({side.value, begin + n, own[n]});
        }
        BySide whole;
        for (const Numbered& item : replayer::exchange(replay_.comm, to_home).items)
            put(whole, begin, item);
        return whole;
    }

    void bring_back(std::uint32_t first, const BySide& whole)
    {
        auto back = lists_for<Numbered>(replay_.size);
        for (const auto& [value, instances] : whole) {
            const Side side{value};
            count(instances, members_.size(side), counts_);
            for (const int process : takers(replay_, members_, side))
                for (std::uint32_t n = 0; n < instances.size(); ++n)
                    back[static_cast<std::size_t>(process)].push_back({value, first + n, instances[n]});
        }
        BySide here;
        for (const Numbered& item : replayer::exchange(replay_.comm, back).items)
            put(here, first, item);
        for (const auto& [value, instances] : here)
            visit_({value}, first, instances);
    }

    const Replay& replay_;
    const Members& members_;
    const VisitInstances& visit_;
    InstanceCounts& counts_;
};

}  // namespace

InstanceCounts reduce_instances(const Replay& replay, const Members& members, const VisitInstances& visit)
{
    InstanceCounts counts;
    const auto lengths = agree_on_lengths(replay, members);
    const Reduction reduction;
    WideSide wide(replay, members, reduction, visit, counts);
    std::vector<Side> narrow;
    for (std::uint32_t value = 0; value < lengths.size(); ++value) {
        const Side side{value};
        if (lengths[value] == 0 || is_private(replay, side))
            continue;
        if (4 * owners(replay, members, side).size() <= static_cast<std::size_t>(replay.size))
            narrow.push_back(side);
        else
            wide.reduce(side, lengths[value]);
    }
    NarrowSides(replay, members, visit, counts).reduce(narrow, lengths);
    sum_counts(replay, counts);
    return counts;
}

bool usable(const rules::Instance& instance, std::size_t size)
{
    return instance.members >= size && !instance.mismatched();
}

}  // namespace critpath::replayer

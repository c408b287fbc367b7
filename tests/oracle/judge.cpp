// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace critpath::oracle
{

namespace
{

using model::Segment;
using model::SegmentKind;

class Judge
{
public:
    Judge(const Execution& execution, const Machine& machine)
        : execution_(execution), graph_(execution.graph), tick_ns_(machine.tick_ns), resolution_(machine.noise())
    {
    }

    Verdict judge(std::span<const Segment> segments)
    {
        verdict_.makespan = (graph_.last() - graph_.first()) * tick_ns_;
        for (const Segment& segment : segments)
            add(segment);
        return std::move(verdict_);
    }

private:
    [[nodiscard]] std::int64_t ticks(std::int64_t ns) const { return graph_.first() + ns / tick_ns_; }

    void add(const Segment& segment)
    {
        const std::int64_t slack = slack_of(segment);
        if (slack <= resolution_) {
            verdict_.critical += segment.end - segment.begin;
            return;
        }
        verdict_.false_critical += segment.end - segment.begin;
        if (slack > (graph_.last() - graph_.first()) / 50)
            verdict_.misleading += segment.end - segment.begin;
        verdict_.faults.push_back(fmt::format("{} {}>{} {}-{}: {}", model::name(static_cast<SegmentKind>(segment.kind)),
                                              segment.origin(), segment.location, ticks(segment.begin),
                                              ticks(segment.end),
                                              slack == unknown ? "is not there" : fmt::format("slack {}", slack)));
    }

    std::int64_t slack_of(const Segment& segment) const
    {
        const int rank = execution_.locations[segment.location];
        const std::int64_t begin = ticks(segment.begin), end = ticks(segment.end);
        switch (static_cast<SegmentKind>(segment.kind)) {
        case SegmentKind::Compute:
        case SegmentKind::Tool:
        case SegmentKind::StartDelay:
            return graph_.slack_of_gap(rank, first_call(rank, begin, false));
        case SegmentKind::Transfer:
        case SegmentKind::Collective:
            return slack_of_hop(execution_.locations[segment.origin()], begin, rank, end);
        default:
            return graph_.slack_of_work(rank, first_call(rank, begin, true));
        }
    }

    /// The first call that is entered at `time` or later, or the one that is under way.
    [[nodiscard]] int first_call(int rank, std::int64_t time, bool under_way) const
    {
        const auto& calls = graph_.calls(rank);
        const auto found = std::ranges::find_if(
            calls, [&](const Times& times) { return under_way ? times.leave > time : times.enter > time; });
        return static_cast<int>(std::min(found, calls.end() - 1) - calls.begin());
    }

    /// The least of what leads from an enter of `from` at `begin` to a leave of `to` at `end`.
    [[nodiscard]] std::int64_t slack_of_hop(int from, std::int64_t begin, int to, std::int64_t end) const
    {
        std::int64_t least = unknown;
        const auto& calls = graph_.calls(to);
        for (std::size_t i = 0; i < calls.size(); ++i)
            if (calls[i].leave == end)
                for (const Edge& edge : graph_.into({to, static_cast<int>(i), true}))
                    if (edge.from.rank == from && graph_.time(edge.from) == begin)
                        least = std::min(least, graph_.slack(edge));
        return least;
    }

    static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

    const Execution& execution_;
    const Graph& graph_;
    std::int64_t tick_ns_;
    std::int64_t resolution_;
    Verdict verdict_;
};

}  // namespace

Verdict judge(const Execution& execution, const Machine& machine, std::span<const model::Segment> segments)
{
    return Judge(execution, machine).judge(segments);
}

}  // namespace critpath::oracle

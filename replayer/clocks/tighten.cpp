// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/tighten.hpp"

#include "replayer/clocks/evidence.hpp"
#include "replayer/clocks/shift.hpp"
#include "replayer/clocks/tree.hpp"
#include "replayer/clocks/witnesses.hpp"
#include "replayer/exchange.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace critpath::replayer::clocks
{

namespace
{

struct KnotRecord {
    std::uint32_t clock, padding;
    Knot knot;
};

using Curves = std::map<std::uint32_t, Curve>;  // by clock

void put(std::uint32_t clock, const Curve& curve, std::vector<KnotRecord>& to)
{
    for (const Knot& knot : curve.knots())
        to.push_back({clock, 0, knot});
}

/// Brings curves to where they are needed.
Curves deliver(const Replay& replay, const std::vector<std::vector<KnotRecord>>& out)
{
    std::map<std::uint32_t, std::vector<Knot>> knots;
    for (const KnotRecord& record : replayer::exchange(replay.comm, out).items)
        knots[record.clock].push_back(record.knot);
    Curves result;
    for (auto& [clock, list] : knots)
        result.emplace(clock, Curve(std::move(list)));
    return result;
}

/// Each clock has one process that works out how it goes.
std::size_t home_of(const Replay& replay, std::uint32_t clock)
{
    return clock % static_cast<std::uint32_t>(replay.size);
}

std::vector<Span> spans(const Replay& replay, std::size_t clocks)
{
    constexpr std::int64_t never = Ns::max().count();
    std::vector<std::int64_t> ends(2 * clocks, never);  // begin; minus end
    for (const model::ProcessTrace& trace : replay.processes) {
        std::int64_t* of_clock = &ends[2 * replay.definitions.processes[trace.process.value].clock_domain.value];
        for (const model::LocationTrace& location : trace.locations) {
            if (location.calls.size() == 0 && location.end <= location.begin)
                continue;
            const std::size_t calls = location.calls.size();
            const Ns last = calls == 0 ? location.end : std::max(location.end, location.calls.leave(calls - 1));
            of_clock[0] = std::min(of_clock[0], location.begin.count());
            of_clock[1] = std::min(of_clock[1], -last.count());
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, ends.data(), static_cast<int>(ends.size()), MPI_INT64_T, MPI_MIN, replay.comm);
    std::vector<Span> result(clocks);
    for (std::size_t i = 0; i < clocks; ++i)
        if (ends[2 * i] != never)
            result[i] = {Ns{ends[2 * i]}, Ns{-ends[2 * i + 1]}};
    return result;
}

/// What relates each clock to the shared one before any event is heard. Where nobody measured anything, the first
/// clock is the shared one.
std::vector<std::int64_t> errors_before(const std::vector<std::int64_t>& measured)
{
    std::vector<std::int64_t> error = measured;
    std::ranges::replace_if(
        error, [](std::int64_t ns) { return ns < 0; }, Tree::unknown);
    if (!error.empty() && std::ranges::all_of(error, [](std::int64_t ns) { return ns == Tree::unknown; }))
        error.front() = 0;
    return error;
}

/// Of two measurements that events contradict, the one that claims less is not to be trusted; of equal ones, that of
/// the later clock. Returns how many clocks lose theirs.
std::size_t distrust(const Replay& replay, const std::vector<Comparison>& comparisons,
                     std::vector<std::int64_t>& measured)
{
    std::vector<std::uint8_t> wrong(measured.size(), 0);
    for (const Comparison& c : comparisons)
        if (c.contradicts)
            wrong[measured[c.first.value] > measured[c.second.value] ? c.first.value : c.second.value] = 1;
    MPI_Allreduce(MPI_IN_PLACE, wrong.data(), static_cast<int>(wrong.size()), MPI_UINT8_T, MPI_MAX, replay.comm);
    for (std::size_t i = 0; i < wrong.size(); ++i)
        measured[i] = wrong[i] != 0 ? -1 : measured[i];
    return static_cast<std::size_t>(std::ranges::count(wrong, 1));
}

/// The curve from each clock to its parent, at the clock's home.
Curves to_parents(const Replay& replay, const std::vector<Comparison>& comparisons, const Tree& tree)
{
    auto out = lists_for<KnotRecord>(replay.size);
    for (const Comparison& c : comparisons) {
        if (tree.parent[c.first.value] == c.second.value)
            put(c.first.value, c.curve, out[home_of(replay, c.first.value)]);
        else if (tree.parent[c.second.value] == c.first.value)
            put(c.second.value, c.curve.reversed(), out[home_of(replay, c.second.value)]);
    }
    return deliver(replay, out);
}

/// The curve from each clock to the shared one, at the clock's home, a level of the tree after the other.
Curves to_shared(const Replay& replay, const Tree& tree, Curves curves)
{
    const auto clocks = static_cast<std::uint32_t>(tree.parent.size());
    for (std::uint32_t level = 1; level <= tree.depth; ++level) {
        auto out = lists_for<KnotRecord>(replay.size);
        std::vector<std::set<std::uint32_t>> sent(out.size());
        for (std::uint32_t clock = 0; clock < clocks; ++clock) {
            if (tree.level[clock] != level || tree.parent[clock] == Tree::none)
                continue;
            const std::uint32_t parent = tree.parent[clock];
            const auto found = curves.find(parent);
            const std::size_t to = home_of(replay, clock);
            if (level > 1 && found != curves.end() &&
                home_of(replay, parent) == static_cast<std::size_t>(replay.rank) && sent[to].insert(parent).second)
                put(parent, found->second, out[to]);
        }
        const Curves parents = deliver(replay, out);
        for (auto& [clock, curve] : curves) {
            if (tree.level[clock] != level)
                continue;
            const auto parent = parents.find(tree.parent[clock]);
            const bool is_shared = parent == parents.end();
            curve = chain(curve, is_shared ? Curve() : parent->second, is_shared ? tree.error[tree.parent[clock]] : 0);
        }
    }
    return curves;
}

/// From the clocks' homes to the processes that hold their events.
Curves to_owners(const Replay& replay, const Curves& curves)
{
    std::vector<std::set<std::uint32_t>> wanted(static_cast<std::size_t>(replay.size));
    for (std::uint32_t p = 0; p < replay.definitions.processes.size(); ++p)
        wanted[static_cast<std::size_t>(replay.owner_of(model::ProcessId{p}))].insert(
            replay.definitions.processes[p].clock_domain.value);
    auto out = lists_for<KnotRecord>(replay.size);
    for (std::size_t owner = 0; owner < out.size(); ++owner)
        for (const std::uint32_t clock : wanted[owner])
            if (const auto found = curves.find(clock); found != curves.end())
                put(clock, found->second, out[owner]);
    return deliver(replay, out);
}

/// What is known of each clock now, on all processes.
void note(Replay& replay, const Tree& tree, const Curves& curves, const std::vector<Span>& spans, Findings& findings)
{
    const std::size_t clocks = tree.parent.size();
    std::vector<std::int64_t> numbers(2 * clocks, 0);  // error and shift, of those that have a curve
    for (const auto& [clock, curve] : curves) {
        numbers[2 * clock] = curve.largest_error(spans[clock].begin, spans[clock].end);
        numbers[2 * clock + 1] = curve.largest_shift(spans[clock].begin, spans[clock].end);
    }
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_INT64_T, MPI_MAX, replay.comm);
    replay.clocks.clear();
    findings.unknown = 0;
    for (std::size_t i = 0; i < clocks; ++i) {
        const bool is_known = tree.error[i] < Tree::unknown;
        const bool has_curve = tree.parent[i] != Tree::none;
        const Ns error{has_curve ? numbers[2 * i] : is_known ? tree.error[i] : 0};
        replay.clocks.push_back({Ns{numbers[2 * i + 1]}, is_known || spans[i].empty()});
        replay.definitions.clock_uncertainty[i] = error;
        findings.unknown += replay.clocks.back().is_known ? 0 : 1;
        findings.correction = std::max(findings.correction, replay.clocks.back().correction);
    }
    findings.uncertainty = replay.definitions.largest_uncertainty();
}

}  // namespace

void tighten(Replay& replay, Findings& findings)
{
    if (findings.domains <= 1)
        return;
    Evidence evidence(spans(replay, findings.domains));
    hear_messages(replay, evidence);
    hear_collectives(replay, evidence);
    const auto comparisons = evidence.compare(replay, findings.measured);
    std::vector<Link> links;
    for (const Comparison& c : comparisons)
        links.push_back({c.first.value, c.second.value, c.error});
    findings.distrusted = distrust(replay, comparisons, findings.measured);
    const Tree tree = shortest_paths(replay.comm, errors_before(findings.measured), links);
    const Curves curves = to_shared(replay, tree, to_parents(replay, comparisons, tree));
    note(replay, tree, curves, evidence.spans(), findings);
    const Curves own = to_owners(replay, curves);
    for (model::ProcessTrace& trace : replay.processes)
        if (const auto found = own.find(replay.definitions.processes[trace.process.value].clock_domain.value);
            found != own.end())
            shift(trace, found->second);
}

}  // namespace critpath::replayer::clocks

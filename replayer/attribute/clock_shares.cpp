// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/clock_shares.hpp"

#include "replayer/exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

namespace critpath::replayer
{

namespace
{

using model::ClockTotals;
using model::Confidence;
using model::NodeId;
using model::Ns;
using model::Segment;
using model::SegmentKind;

/// What decided that the path is where it is.
struct State {
    bool decided = false;  // the last choice was within the error of the clocks
    bool doubted = false;  // so was one since the last meeting of all processes
};

/// What a part of the path makes of the state behind it.
State apply(const Change& change, const State& behind)
{
    return {change.chooses != 0 ? change.decided != 0 : behind.decided,
            change.doubted != 0 || (change.meets == 0 && behind.doubted)};
}

Change change_at(SegmentKind kind, Confidence confidence)
{
    if (confidence == Confidence::WithinClocks)
        return {1, 1, 0, 1};
    const bool chooses = kind == SegmentKind::Transfer || kind == SegmentKind::Collective ||
                         kind == SegmentKind::Delay || kind == SegmentKind::Thread;
    const bool meets = confidence == Confidence::Meeting;
    return {static_cast<std::uint8_t>(chooses ? 1 : 0), 0, static_cast<std::uint8_t>(meets ? 1 : 0), 0};
}

/// `earlier` in time, then `later`.
Change combine(const Change& earlier, const Change& later)
{
    Change result = earlier.chooses != 0 ? earlier : later;
    result.meets = earlier.meets != 0 || later.meets != 0 ? 1 : 0;
    result.doubted = earlier.doubted != 0 || (earlier.meets == 0 && later.doubted != 0) ? 1 : 0;
    return result;
}

/// A piece on its way to the process that holds its part of the makespan.
struct Placed {
    std::int64_t begin, end;
    std::uint32_t location;
    std::uint32_t index;  // into Path::pieces of the process that it comes from
    std::uint32_t source;
    Change change;

    /// That of time; pieces that take no time come before the one that begins then.
    [[nodiscard]] auto order() const { return std::tuple(begin, end, location, index); }
};

struct Answer {
    std::uint32_t index;
    std::uint8_t decided, doubted;
};

class Shares
{
public:
    explicit Shares(const Replay& replay) : replay_(replay), definitions_(replay.definitions)
    {
        const auto add = [&](const model::Process& process) {
            result_.resize(std::max<std::size_t>(result_.size(), process.clock_domain.value + 1));
            ClockTotals& clock = result_[process.clock_domain.value];
            clock.node = clock.processes == 0 ? process.node : clock.node;
            ++clock.processes;
        };
        std::ranges::for_each(definitions_.processes, add);
    }

    std::vector<ClockTotals> take(const Collectives& collectives, const Path& path, const std::vector<Choices>& choices)
    {
        if (result_.size() <= 1)
            return {};
        add_path(path, choices);
        count_last_arrivals(collectives);
        add_up();
        for (std::size_t i = 0; i < std::min(result_.size(), replay_.clocks.size()); ++i) {
            result_[i].correction_ns = replay_.clocks[i].correction.count();
            result_[i].is_known = replay_.clocks[i].is_known;
        }
        for (std::size_t i = 0; i < std::min(result_.size(), definitions_.clock_uncertainty.size()); ++i)
            result_[i].uncertainty_ns = definitions_.clock_uncertainty[i].count();
        return std::move(result_);
    }

private:
    [[nodiscard]] NodeId clock_of(std::uint32_t location) const
    {
        return definitions_.processes[definitions_.locations[location].process.value].clock_domain;
    }

    /// The process that ended last is a choice, too, if others ended at about the same time.
    [[nodiscard]] State state_at_end() const
    {
        std::vector<std::int64_t> ends(result_.size(), Ns::min().count());
        for (const model::ProcessTrace& trace : replay_.processes)
            if (!trace.locations.empty()) {
                std::int64_t& end = ends[definitions_.processes[trace.process.value].clock_domain.value];
                end = std::max(end, trace.locations.front().end.count());
            }
        MPI_Allreduce(MPI_IN_PLACE, ends.data(), static_cast<int>(ends.size()), MPI_INT64_T, MPI_MAX, replay_.comm);
        const auto last = static_cast<std::size_t>(std::ranges::max_element(ends) - ends.begin());
        const auto& error = definitions_.clock_uncertainty;
        for (std::size_t i = 0; i < std::min(ends.size(), error.size()); ++i)
            if (i != last && ends[i] != Ns::min().count() && ends[last] - ends[i] < (error[i] + error[last]).count())
                return {true, true};
        return {};
    }

    /// Each process puts the pieces of its share of the makespan in order.
    [[nodiscard]] std::vector<Placed> in_share(const Path& path, const std::vector<Choices>& choices) const
    {
        __extension__ using Wide = __int128;
        auto out = lists_for<Placed>(replay_.size);
        for (std::size_t i = 0; i < path.pieces.size(); ++i) {
            const Wide since = path.pieces[i].begin - path.begin.count();
            const Wide home = since * replay_.size / std::max<std::int64_t>(1, path.makespan.count());
            out[static_cast<std::size_t>(std::min<Wide>(home, replay_.size - 1))].push_back(
                {path.pieces[i].begin, path.pieces[i].end, path.pieces[i].location, static_cast<std::uint32_t>(i),
                 static_cast<std::uint32_t>(replay_.rank), choices[i].change});
        }
        auto placed = replayer::exchange(replay_.comm, out).items;
        std::ranges::sort(placed, {}, &Placed::order);
        return placed;
    }

    /// By piece: the state where it ends.
    [[nodiscard]] std::vector<State> states_behind(const Path& path, const std::vector<Choices>& choices) const
    {
        const std::vector<Placed> placed = in_share(path, choices);
        Change own;
        for (const Placed& piece : placed)
            own = combine(own, piece.change);
        std::vector<Change> all(static_cast<std::size_t>(replay_.size));
        MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, replay_.comm);
        State state = state_at_end();
        for (auto process = all.size() - 1; process > static_cast<std::size_t>(replay_.rank); --process)
            state = apply(all[process], state);
        std::vector<std::vector<Answer>> back(all.size());
        for (auto piece = placed.rbegin(); piece != placed.rend(); ++piece) {
            back[piece->source].push_back({piece->index, static_cast<std::uint8_t>(state.decided ? 1 : 0),
                                           static_cast<std::uint8_t>(state.doubted ? 1 : 0)});
            state = apply(piece->change, state);
        }
        std::vector<State> result(path.pieces.size());
        for (const Answer& answer : replayer::exchange(replay_.comm, back).items)
            result[answer.index] = {answer.decided != 0, answer.doubted != 0};
        return result;
    }

    /// Stretches of the path are measured by one clock each; what lies between two clocks is off by their error.
    [[nodiscard]] std::int64_t error_of_hop(const Piece& piece, const Choices& choices) const
    {
        return choices.from == Choices::none
                   ? 0
                   : definitions_.uncertainty(model::LocationId{choices.from}, model::LocationId{piece.location})
                         .count();
    }

    void add_path(const Path& path, const std::vector<Choices>& choices)
    {
        const std::vector<State> behind = states_behind(path, choices);
        for (std::size_t i = 0; i < path.pieces.size(); ++i) {
            const Piece& piece = path.pieces[i];
            const Choices& own = choices[i];
            ClockTotals& clock = result_[clock_of(piece.location).value];
            clock.path_ns += piece.end - piece.begin;
            clock.decided_ns += own.decided_ns + (behind[i].decided ? own.open_ns : 0);
            clock.doubted_ns += own.doubted_ns + (behind[i].doubted ? own.undoubted_ns : 0);
            clock.doubted_ns += apply(own.change, behind[i]).doubted ? 0 : error_of_hop(piece, own);
        }
    }

    void count_last_arrivals(const Collectives& collectives)
    {
        for (std::size_t clock = 0; clock < result_.size(); ++clock)
            result_[clock].last_arrivals += collectives.last_arrivals[clock];
    }

    void add_up()
    {
        std::vector<std::int64_t> sums;
        for (const ClockTotals& clock : result_)
            sums.insert(sums.end(), {clock.path_ns, clock.decided_ns, clock.doubted_ns,
                                     static_cast<std::int64_t>(clock.last_arrivals)});
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_INT64_T, MPI_SUM, replay_.comm);
        auto sum = sums.begin();
        for (ClockTotals& clock : result_) {
            clock.path_ns = *sum++;
            clock.decided_ns = *sum++;
            clock.doubted_ns = *sum++;
            clock.last_arrivals = static_cast<std::uint64_t>(*sum++);
        }
    }

    const Replay& replay_;
    const model::Definitions& definitions_;
    std::vector<ClockTotals> result_;
};

}  // namespace

void Choices::add(SegmentKind kind, Confidence confidence, std::int64_t ns)
{
    const Change here = change_at(kind, confidence);
    if (here.chooses != 0) {
        decided_ns += here.decided != 0 ? open_ns + ns : 0;
        open_ns = 0;
    } else {
        open_ns += ns;
    }
    if (here.doubted != 0) {
        doubted_ns += undoubted_ns + ns;
        undoubted_ns = 0;
    } else {
        // The time of a meeting is that of who goes on from there.
        undoubted_ns = (here.meets != 0 ? 0 : undoubted_ns) + ns;
    }
    change = combine(change, here);
}

void Choices::add(const model::Segment& segment)
{
    add(static_cast<SegmentKind>(segment.kind), static_cast<Confidence>(segment.low_confidence),
        segment.end - segment.begin);
}

bool several_clocks(const model::Definitions& definitions)
{
    return std::ranges::any_of(definitions.processes,
                               [](const auto& process) { return process.clock_domain.value > 0; });
}

std::vector<model::ClockTotals> clock_shares(const Replay& replay, const Collectives& collectives, const Path& path,
                                             const std::vector<Choices>& choices)
{
    return Shares(replay).take(collectives, path, choices);
}

}  // namespace critpath::replayer

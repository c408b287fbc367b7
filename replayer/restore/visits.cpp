// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/visits.hpp"

#include "replayer/exchange.hpp"
#include "replayer/order.hpp"
#include "replayer/restore/cut.hpp"
#include "replayer/restore/find_visits.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

/// Divides the pieces in which there are visits, and keeps the pieces of these for their processes.
class Divider
{
public:
    Divider(const Replay& replay, const Predecessors& predecessors, Path& path)
        : replay_(replay), path_(path), cutter_(replay, predecessors, path), visited_(lists_for<Piece>(replay.size))
    {
    }

    /// `visits`: by wait.
    void divide(std::span<const LongWait> waits, std::span<const Visit> visits)
    {
        Pieces result;
        std::size_t next = 0;
        for (std::size_t i = 0; i < path_.pieces.size(); ++i) {
            Piece rest = path_.pieces[i];
            for (; next < waits.size() && waits[next].piece == i; ++next)
                if (visits[next].call.valid())
                    leave_out(rest, waits[next], visits[next], result);
            result.push_back(rest);
        }
        const std::vector<Piece> visited = replayer::exchange(replay_.comm, visited_).items;
        for (const Piece& piece : visited)
            result.push_back(piece);
        sort_runs(result, [](const Piece& piece) { return std::tuple(piece.begin, piece.end); });
        path_.pieces = std::move(result);
        MPI_Allreduce(MPI_IN_PLACE, &hops_, 1, MPI_UINT64_T, MPI_SUM, replay_.comm);
        path_.hops += hops_;
    }

private:
    void leave_out(Piece& rest, const LongWait& wait, const Visit& visit, Pieces& result)
    {
        const std::uint32_t location = visit.call.location.value;
        std::uint32_t before = rest.location;
        Piece first = rest;
        first.end = visit.begin.count();
        if (wait.call == LongWait::lead) {
            if (visit.begin > wait.begin) {
                first.stretch = first.end;
                first.first_call = first.end_call = 0;
                result.push_back(first);
            } else {
                before = cutter_.jump_of(rest).to.location.value;
            }
        } else {
            first.end_call = wait.call + 1;
            result.push_back(first);
            rest.stretch = visit.end.count();
            rest.first_call = wait.call;
            rest.lead = Piece::nothing;
        }
        rest.begin = visit.end.count();
        hops_ += (before != location ? 1 : 0) + (location != rest.location ? 1 : 0);
        hops_ -= before != rest.location ? 1 : 0;
        visited_[static_cast<std::size_t>(replay_.owner_of(visit.call.location))].push_back(
            {visit.begin.count(), visit.begin.count(), visit.end.count(), location, visit.call.call.value,
             visit.call.call.value + 1, visit.is_sure ? Piece::preempted : Piece::perhaps_preempted});
    }

    const Replay& replay_;
    Path& path_;
    PathCutter cutter_;
    std::vector<std::vector<Piece>> visited_;  // by process of the replay
    std::uint64_t hops_ = 0;
};

}  // namespace

bool knows_preemption(const Replay& replay)
{
    return on_any(replay.comm, std::ranges::any_of(replay.processes, [](const model::ProcessTrace& trace) {
                      return std::ranges::any_of(trace.locations, [](const auto& l) { return !l.off.empty(); });
                  }));
}

void visit_preempted(const Replay& replay, const Predecessors& predecessors, Path& path)
{
    if (replay.rules != Rules::Arrival || !knows_preemption(replay))
        return;
    const std::vector<LongWait> waits = find_long_waits(replay, predecessors, path);
    Divider(replay, predecessors, path).divide(waits, find_visits(replay, predecessors, path, waits));
}

}  // namespace critpath::replayer

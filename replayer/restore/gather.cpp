// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The walk on one process, which gets the jumps of all.
#include "replayer/exchange.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/restore/restore.hpp"

#include <algorithm>
#include <utility>

namespace critpath::replayer
{

namespace
{

constexpr int walker = 0;  // the process that walks

struct LocationEvents {
    std::uint32_t location;
    std::uint32_t main;
    std::int64_t begin, end;
};

std::vector<LocationSpan> gather_spans(const Replay& replay)
{
    auto out = lists_for<LocationEvents>(replay.size);
    std::vector<LocationSpan> spans = own_spans(replay);
    for (std::uint32_t i = 0; i < spans.size(); ++i)
        if (!spans[i].empty)
            out[walker].push_back({i, spans[i].main.value, spans[i].begin.count(), spans[i].end.count()});
    for (const LocationEvents& e : replayer::exchange(replay.comm, out).items)
        spans[e.location] = {Ns{e.begin}, Ns{e.end}, {e.main}, false};
    return spans;
}

/// The jumps of the other processes, at the one that walks.
std::vector<Jump> gather_jumps(const Replay& replay, const JumpsByLocation& own)
{
    auto out = lists_for<Jump>(replay.size);
    if (replay.rank != walker)
        for (const JumpList& here : own)
            for (std::size_t i = 0; i < here.size(); ++i)
                out[walker].push_back(here[i]);
    return replayer::exchange(replay.comm, out).items;
}

Walk walk_all(const std::vector<LocationSpan>& spans, const JumpsByLocation& own, const std::vector<Jump>& others)
{
    JumpsByLocation jumps = own;
    // Processes hold ascending blocks of locations, so what has arrived is sorted by location and call.
    for (std::span<const Jump> left = others; !left.empty();) {
        const LocationId location = left.front().call.location;
        const auto end = std::ranges::find_if(left, [&](const Jump& j) { return j.call.location != location; });
        const auto count = static_cast<std::size_t>(end - left.begin());
        jumps[location.value] = JumpList(left.first(count));
        left = left.subspan(count);
    }
    return walk(spans, jumps);
}

}  // namespace

std::vector<Piece> gather_and_walk(const Replay& replay, const Predecessors& predecessors, Path& path)
{
    const auto spans = gather_spans(replay);
    const auto own = own_jumps(replay, predecessors);
    const auto others = gather_jumps(replay, own);
    auto out = lists_for<Piece>(replay.size);
    std::int64_t numbers[4] = {0, 0, 0, 0};
    Walk walked;
    if (replay.rank == walker) {
        walked = walk_all(spans, own, others);
        if (replay.size > 1)
            for (const Piece& piece : walked.pieces)
                out[static_cast<std::size_t>(replay.owner_of(LocationId{piece.location}))].push_back(piece);
        numbers[0] = walked.begin.count();
        numbers[1] = (walked.end - walked.begin).count();
        numbers[2] = static_cast<std::int64_t>(walked.hops);
        numbers[3] = static_cast<std::int64_t>(walked.clock_violations);
    }
    MPI_Bcast(numbers, 4, MPI_INT64_T, walker, replay.comm);
    path.begin = Ns{numbers[0]};
    path.makespan = Ns{numbers[1]};
    path.hops = static_cast<std::uint64_t>(numbers[2]);
    path.clock_violations = static_cast<std::uint64_t>(numbers[3]);
    return replay.size > 1 ? replayer::exchange(replay.comm, out).items : std::move(walked.pieces);
}

}  // namespace critpath::replayer

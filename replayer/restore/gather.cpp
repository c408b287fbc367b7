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
    if (replay.rank != walker) {
        std::size_t all = 0;
        for (const JumpList& here : own)
            all += here.size();
        out[walker].reserve(all);
        for (const JumpList& here : own)
            for (std::size_t i = 0; i < here.size(); ++i)
                out[walker].push_back(here[i]);
    }
    return replayer::exchange(replay.comm, out).items;
}

/// On the process that walks; nothing on the others. Collective.
Walk walk_all(const Replay& replay, const Predecessors& predecessors)
{
    const auto spans = gather_spans(replay);
    JumpsByLocation jumps = own_jumps(replay, predecessors);
    const std::vector<Jump> others = gather_jumps(replay, jumps);
    if (replay.rank != walker)
        return {};
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

/// Each piece to who holds its location. Collective.
std::vector<Piece> deliver(const Replay& replay, std::vector<Piece> pieces)
{
    if (replay.size == 1)
        return pieces;
    auto out = lists_for<Piece>(replay.size);
    const auto owner = [&](const Piece& piece) {
        return static_cast<std::size_t>(replay.owner_of(LocationId{piece.location}));
    };
    std::vector<std::size_t> counts(out.size());
    for (const Piece& piece : pieces)
        ++counts[owner(piece)];
    for (std::size_t p = 0; p < out.size(); ++p)
        out[p].reserve(counts[p]);
    for (const Piece& piece : pieces)
        out[owner(piece)].push_back(piece);
    pieces = std::vector<Piece>();
    return replayer::exchange(replay.comm, out).items;
}

}  // namespace

std::vector<Piece> gather_and_walk(const Replay& replay, const Predecessors& predecessors, Path& path)
{
    Walk walked = walk_all(replay, predecessors);
    std::int64_t numbers[4] = {walked.begin.count(), (walked.end - walked.begin).count(),
                               static_cast<std::int64_t>(walked.hops),
                               static_cast<std::int64_t>(walked.clock_violations)};
    MPI_Bcast(numbers, 4, MPI_INT64_T, walker, replay.comm);
    path.begin = Ns{numbers[0]};
    path.makespan = Ns{numbers[1]};
    path.hops = static_cast<std::uint64_t>(numbers[2]);
    path.clock_violations = static_cast<std::uint64_t>(numbers[3]);
    return deliver(replay, std::move(walked.pieces));
}

}  // namespace critpath::replayer

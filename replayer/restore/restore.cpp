// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/restore.hpp"

#include "replayer/exchange.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

constexpr int walker = 0;  // the process that walks

template <class T>
std::vector<std::vector<T>> for_everyone(const Replay& replay)
{
    return std::vector<std::vector<T>>(static_cast<std::size_t>(replay.size));
}

struct LocationEvents {
    std::uint32_t location;
    std::uint32_t main;
    std::int64_t begin, end;
};

std::vector<LocationSpan> gather_spans(const Replay& replay)
{
    auto out = for_everyone<LocationEvents>(replay);
    std::vector<LocationSpan> spans = own_spans(replay);
    for (std::uint32_t i = 0; i < spans.size(); ++i)
        if (!spans[i].empty)
            out[walker].push_back({i, spans[i].main.value, spans[i].begin.count(), spans[i].end.count()});
    for (const LocationEvents& e : replayer::exchange(replay.comm, out).items)
        spans[e.location] = {Ns{e.begin}, Ns{e.end}, {e.main}, false};
    return spans;
}

std::vector<Jump> gather_jumps(const Replay& replay, const Predecessors& predecessors)
{
    auto out = for_everyone<Jump>(replay);
    out[walker] = own_jumps(predecessors);
    // Processes hold ascending blocks of locations, so what arrives is sorted by location and call.
    return replayer::exchange(replay.comm, out).items;
}

}  // namespace

std::vector<LocationSpan> own_spans(const Replay& replay)
{
    std::vector<LocationSpan> spans(replay.definitions.locations.size());
    for (const model::ProcessTrace& trace : replay.processes)
        for (const model::LocationTrace& location : trace.locations)
            if (location.calls.size() > 0 || location.end > location.begin)
                spans[location.location.value] = {location.begin, location.end, trace.locations.front().location,
                                                  false};
    return spans;
}

std::vector<Jump> own_jumps(const Predecessors& predecessors)
{
    std::vector<Jump> jumps;
    for (const auto& process : predecessors.processes)
        for (const LocationPredecessors& location : process)
            jumps.insert(jumps.end(), location.jumps.begin(), location.jumps.end());
    return jumps;
}

std::vector<Piece> gather_and_walk(const Replay& replay, const Predecessors& predecessors, Path& path)
{
    const auto spans = gather_spans(replay);
    const auto jumps = gather_jumps(replay, predecessors);
    auto out = for_everyone<Piece>(replay);
    std::int64_t numbers[4] = {0, 0, 0, 0};
    if (replay.rank == walker) {
        const Walk walked = walk(spans, jumps);
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
    return replayer::exchange(replay.comm, out).items;
}

Path restore(const Replay& replay, const Predecessors& predecessors, WalkPath walk_path)
{
    Path path;
    path.pieces = walk_path(replay, predecessors, path);
    std::ranges::reverse(path.pieces);  // they come in the order of the walk
    return path;
}

}  // namespace critpath::replayer

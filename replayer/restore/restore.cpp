// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/restore.hpp"

#include "formats/support/error.hpp"
#include "replayer/exchange.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/restore/cut.hpp"
#include "replayer/restore/walk.hpp"

#include <algorithm>
#include <utility>

namespace critpath::replayer
{

namespace
{

using model::Segment;

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
    for (const model::ProcessTrace& trace : replay.processes)
        for (const model::LocationTrace& location : trace.locations)
            if (location.calls.size() > 0 || location.end > location.begin)
                out[walker].push_back({location.location.value, trace.locations.front().location.value,
                                       location.begin.count(), location.end.count()});
    std::vector<LocationSpan> spans(replay.definitions.locations.size());
    for (const LocationEvents& e : replayer::exchange(replay.comm, out).items)
        spans[e.location] = {Ns{e.begin}, Ns{e.end}, {e.main}, false};
    return spans;
}

std::vector<Jump> gather_jumps(const Replay& replay, const Predecessors& predecessors)
{
    auto out = for_everyone<Jump>(replay);
    for (const auto& process : predecessors.processes)
        for (const LocationPredecessors& location : process)
            out[walker].insert(out[walker].end(), location.jumps.begin(), location.jumps.end());
    // Processes hold ascending blocks of locations, so what arrives is sorted by location and call.
    return replayer::exchange(replay.comm, out).items;
}

/// Walks on one process; the pieces go to the processes that hold their locations.
std::vector<Piece> share_walk(const Replay& replay, const Predecessors& predecessors, Path& path)
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

std::vector<Segment> cut_piece(const Replay& replay, const Predecessors& predecessors, const Piece& piece, Ns origin)
{
    const std::size_t p =
        replay.definitions.locations[piece.location].process.value - replay.processes.front().process.value;
    const std::size_t l = local_index(replay.processes[p], {piece.location});
    return cut(piece, replay.processes[p].locations[l], predecessors.processes[p][l], origin);
}

struct Count {
    std::uint64_t number, segments;
};

/// Where the segments of each piece begin in the path: by position in `counts`, which are this process's pieces.
std::vector<std::uint64_t> agree_on_positions(const Replay& replay, const std::vector<Count>& counts,
                                              std::uint64_t& total)
{
    auto out = for_everyone<Count>(replay);
    out[walker] = counts;
    const auto received = replayer::exchange(replay.comm, out);
    std::vector<std::uint64_t> position(received.items.size());
    for (const Count& count : received.items)
        position[count.number] = count.segments;
    total = 0;
    for (auto p = position.rbegin(); p != position.rend(); ++p)  // pieces are numbered from the end of the run
        total += std::exchange(*p, total);
    MPI_Bcast(&total, 1, MPI_UINT64_T, walker, replay.comm);
    auto back = for_everyone<std::uint64_t>(replay);
    if (replay.rank == walker)
        for (int process = 0; process < replay.size; ++process)
            for (const Count& count : received.from(process))
                back[static_cast<std::size_t>(process)].push_back(position[count.number]);
    return replayer::exchange(replay.comm, back).items;
}

struct Placed {
    std::uint64_t index;
    Segment segment;
};

/// First segment of the share of `process`.
std::uint64_t share_begin(std::uint64_t total, int process, int processes)
{
    const auto p = static_cast<std::uint64_t>(process);
    const auto n = static_cast<std::uint64_t>(processes);
    return total / n * p + std::min(total % n, p);
}

void distribute(const Replay& replay, const std::vector<Placed>& placed, Path& path)
{
    auto out = for_everyone<Placed>(replay);
    const std::uint64_t whole = path.segments / static_cast<std::uint64_t>(replay.size);
    const std::uint64_t longer = path.segments % static_cast<std::uint64_t>(replay.size);
    for (const Placed& p : placed) {
        const std::uint64_t in_longer = longer * (whole + 1);
        const std::uint64_t process =
            p.index < in_longer ? p.index / (whole + 1) : longer + (p.index - in_longer) / whole;
        out[process].push_back(p);
    }
    path.first = share_begin(path.segments, replay.rank, replay.size);
    path.block.resize(share_begin(path.segments, replay.rank + 1, replay.size) - path.first);
    for (const Placed& p : replayer::exchange(replay.comm, out).items)
        path.block[p.index - path.first] = p.segment;
}

struct Ends {
    std::int64_t begin, end, broken;
};

}  // namespace

Path restore(const Replay& replay, const Predecessors& predecessors)
{
    Path path;
    const auto pieces = share_walk(replay, predecessors, path);
    std::vector<Placed> placed;
    std::vector<Count> counts;
    for (const Piece& piece : pieces) {
        const auto segments = cut_piece(replay, predecessors, piece, path.begin);
        counts.push_back({piece.number, segments.size()});
        path.own.insert(path.own.end(), segments.begin(), segments.end());
    }
    const auto positions = agree_on_positions(replay, counts, path.segments);
    placed.reserve(path.own.size());
    for (std::size_t i = 0, next = 0; i < counts.size(); ++i)
        for (std::uint64_t k = 0; k < counts[i].segments; ++k)
            placed.push_back({positions[i] + k, path.own[next++]});
    distribute(replay, placed, path);
    verify(replay, path);
    return path;
}

void verify(const Replay& replay, const Path& path)
{
    Ends mine{-1, -1, 0};
    if (!path.block.empty())
        mine = {path.block.front().begin, path.block.back().end, 0};
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < path.block.size(); ++i) {
        const Segment& segment = path.block[i];
        sum += segment.end - segment.begin;
        if (segment.end <= segment.begin || (i > 0 && segment.begin != path.block[i - 1].end))
            mine.broken = 1;
    }
    std::vector<Ends> all(static_cast<std::size_t>(replay.size));
    MPI_Allgather(&mine, 3, MPI_INT64_T, all.data(), 3, MPI_INT64_T, replay.comm);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, replay.comm);
    std::int64_t time = 0;
    bool broken = sum != path.makespan.count();
    for (const Ends& ends : all) {
        broken = broken || ends.broken != 0 || (ends.begin >= 0 && ends.begin != time);
        time = ends.begin >= 0 ? ends.end : time;
    }
    if (broken || time != path.makespan.count())
        fail(ExitCode::Failed,
             "critical path: its segments sum to {} ns, but the run took {} ns; this is a defect of cpreplay, please "
             "report it with the trace",
             sum, path.makespan.count());
}

}  // namespace critpath::replayer

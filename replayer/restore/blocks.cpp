// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/blocks.hpp"

#include "formats/support/error.hpp"
#include "replayer/exchange.hpp"
#include "replayer/order.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using model::Segment;

constexpr std::uint64_t block = 16384;  // segments of one process in one round

struct Extent {
    std::int64_t begin, end;
    PieceSum sum;
    std::uint32_t index;  // into Path::pieces of the process that it comes from
    std::uint32_t source;
};

struct Place {
    std::uint32_t index;
    std::uint64_t first;
};

/// Each process puts the pieces of its share of the makespan in order.
std::vector<Extent> extents_in_share(const Replay& replay, const Path& path, const std::vector<PieceSum>& sums)
{
    __extension__ using Wide = __int128;
    auto out = lists_for<Extent>(replay.size);
    for (std::size_t i = 0; i < path.pieces.size(); ++i) {
        const Piece& piece = path.pieces[i];
        if (piece.end <= piece.begin)
            continue;  // it has no segments
        const Wide since = piece.begin - path.begin.count();
        const auto home = static_cast<std::size_t>(since * replay.size / path.makespan.count());
        out[home].push_back(
            {piece.begin, piece.end, sums[i], static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(replay.rank)});
    }
    auto extents = replayer::exchange(replay.comm, out).items;
    sort_runs(extents, &Extent::begin);  // each process has sent its own in order
    return extents;
}

/// From the end of the last piece before this process's share, every piece begins where the one before it ended.
void check_chain(const Replay& replay, const Path& path, const std::vector<Extent>& extents)
{
    const std::int64_t begin = path.begin.count();
    std::int64_t mine = extents.empty() ? begin : extents.back().end;
    std::int64_t before = begin;
    MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_MAX, replay.comm);
    std::int64_t time = replay.rank == 0 ? begin : std::max(before, begin);
    int is_broken = 0;
    for (const Extent& extent : extents) {
        is_broken |= extent.begin == time && extent.sum.ns == extent.end - extent.begin ? 0 : 1;
        time = extent.end;
    }
    std::int64_t last[2] = {time, is_broken};
    MPI_Allreduce(MPI_IN_PLACE, last, 2, MPI_INT64_T, MPI_MAX, replay.comm);
    if (last[1] != 0 || last[0] != begin + path.makespan.count())
        fail(ExitCode::Failed,
             "critical path: its segments are no chain over the {} ns that the run took; this is a defect of cpreplay, "
             "please report it with the trace",
             path.makespan.count());
}

/// What of the path this process cuts, as records with numbers.
class Source
{
public:
    Source(PathCutter cutter, const Numbers& numbers, std::span<const std::uint32_t> region_names)
        : cutter_(std::move(cutter)), numbers_(numbers), names_(region_names)
    {
    }

    /// Calls `visit(number, segment)` for the next segments, as long as their numbers are below `limit`.
    template <class Visit>
    void until(std::uint64_t limit, Visit visit)
    {
        for (;;) {
            for (; used_ < part_.segments.size() && number_ < limit; ++used_, ++number_) {
                Segment segment = part_.segments[used_];
                if (segment.function < names_.size())
                    segment.function = names_[segment.function];
                if (static_cast<model::Confidence>(segment.low_confidence) == model::Confidence::Meeting)
                    segment.low_confidence = static_cast<std::uint8_t>(model::Confidence::Full);
                visit(number_, segment);
            }
            if (used_ < part_.segments.size() || is_over_)
                return;
            advance();
        }
    }

private:
    void advance()
    {
        const auto next = cutter_.next();
        is_over_ = !next;
        if (!next)
            return;
        if (!is_begun_ || next->piece != part_.piece)
            number_ = numbers_.first[next->piece];
        is_begun_ = true;
        part_ = *next;
        used_ = 0;
    }

    PathCutter cutter_;
    const Numbers& numbers_;
    std::span<const std::uint32_t> names_;
    PathCutter::Part part_{};
    std::size_t used_ = 0;  // of part_
    std::uint64_t number_ = 0;
    bool is_begun_ = false;
    bool is_over_ = false;
};

struct Numbered {
    std::uint64_t number;
    Segment segment;
};

/// The numbers below this one belong to rounds before `round`, or to lower processes in it.
std::uint64_t begin_of(const Replay& replay, std::uint64_t segments, std::uint64_t round, int process)
{
    const auto before = round * static_cast<std::uint64_t>(replay.size) + static_cast<std::uint64_t>(process);
    return std::min(before * block, segments);
}

}  // namespace

Numbers number_segments(const Replay& replay, const Path& path, const std::vector<PieceSum>& sums)
{
    const auto extents = extents_in_share(replay, path, sums);
    check_chain(replay, path, extents);
    std::uint64_t mine = 0;
    for (const Extent& extent : extents)
        mine += extent.sum.segments;
    std::uint64_t first = 0;
    MPI_Exscan(&mine, &first, 1, MPI_UINT64_T, MPI_SUM, replay.comm);
    first = replay.rank == 0 ? 0 : first;
    auto back = lists_for<Place>(replay.size);
    for (const Extent& extent : extents) {
        back[extent.source].push_back({extent.index, first});
        first += extent.sum.segments;
    }
    Numbers result;
    result.first.resize(path.pieces.size());
    for (const Place& place : replayer::exchange(replay.comm, back).items)
        result.first[place.index] = place.first;
    MPI_Allreduce(&mine, &result.segments, 1, MPI_UINT64_T, MPI_SUM, replay.comm);
    return result;
}

void for_each_block(const Replay& replay, const Predecessors& predecessors, const Path& path, const Numbers& numbers,
                    std::span<const std::uint32_t> region_names, const VisitBlock& visit)
{
    Source source(PathCutter(replay, predecessors, path), numbers, region_names);
    std::vector<Segment> segments;
    for (std::uint64_t round = 0; begin_of(replay, numbers.segments, round, 0) < numbers.segments; ++round) {
        const std::uint64_t first = begin_of(replay, numbers.segments, round, replay.rank);
        segments.resize(begin_of(replay, numbers.segments, round, replay.rank + 1) - first);
        auto out = lists_for<Numbered>(replay.size);
        for (int process = 0; process < replay.size; ++process)
            source.until(begin_of(replay, numbers.segments, round, process + 1),
                         [&](std::uint64_t number, const Segment& segment) {
                             if (process == replay.rank)
                                 segments[number - first] = segment;
                             else
                                 out[static_cast<std::size_t>(process)].push_back({number, segment});
                         });
        if (replay.size > 1)
            for (const Numbered& numbered : replayer::exchange(replay.comm, out).items)
                segments[numbered.number - first] = numbered.segment;
        visit(first, segments);
    }
}

}  // namespace critpath::replayer

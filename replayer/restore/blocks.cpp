// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/blocks.hpp"

#include "formats/support/error.hpp"
#include "replayer/exchange.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace critpath::replayer
{

namespace
{

using model::Segment;

constexpr std::uint64_t block = 16384;  // segments of one process in one round

bool has_segments(const Piece& piece)
{
    return piece.end > piece.begin;
}

/// A piece, as the process sees it in whose share of the makespan it begins.
struct Extent {
    std::int64_t begin, end;
    std::uint64_t segments;
};

/// The pieces that begin in the share of this process, of all processes. Shares ascend with the processes, and what
/// one process sends is in order.
Received<Extent> exchange_extents(const Replay& replay, const Path& path, const std::vector<PieceSum>& sums)
{
    __extension__ using Wide = __int128;
    auto out = lists_for<Extent>(replay.size);
    for (std::size_t i = 0; i < path.pieces.size(); ++i) {
        const Piece& piece = path.pieces[i];
        if (!has_segments(piece))
            continue;
        const Wide since = piece.begin - path.begin.count();
        const auto home = static_cast<std::size_t>(since * replay.size / path.makespan.count());
        out[home].push_back({piece.begin, piece.end, sums[i].segments});
    }
    return replayer::exchange(replay.comm, out);
}

/// Pieces in the order of time.
struct Chain {
    std::int64_t begin = 0, end = 0;  // ns; both 0 if there is none
    std::uint64_t segments = 0;
    bool is_whole = true;                           // every piece begins where the one before it ended
    std::vector<std::vector<std::uint64_t>> first;  // by process and piece from it: segments before it

    void add(const Extent& extent, std::size_t source)
    {
        is_whole = is_whole && (segments == 0 || extent.begin == end);
        begin = segments == 0 ? extent.begin : begin;
        end = extent.end;
        first[source].push_back(segments);
        segments += extent.segments;
    }
};

/// Merges what the processes have sent.
Chain in_order(const Replay& replay, const Received<Extent>& extents)
{
    Chain chain;
    chain.first = lists_for<std::uint64_t>(replay.size);
    using Next = std::pair<std::int64_t, std::size_t>;  // begin of the next piece of a process
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    std::vector<std::span<const Extent>> left;
    for (int source = 0; source < replay.size; ++source) {
        left.push_back(extents.from(source));
        if (!left.back().empty())
            next.emplace(left.back().front().begin, left.size() - 1);
    }
    while (!next.empty()) {
        const std::size_t source = next.top().second;
        next.pop();
        chain.add(left[source].front(), source);
        left[source] = left[source].subspan(1);
        if (!left[source].empty())
            next.emplace(left[source].front().begin, source);
    }
    return chain;
}

/// From the end of the last piece before this process's share, every piece begins where the one before it ended, and
/// has been cut into segments that are as long.
void check_chain(const Replay& replay, const Path& path, const std::vector<PieceSum>& sums, const Chain& chain)
{
    const std::int64_t begin = path.begin.count();
    std::int64_t mine = chain.segments > 0 ? chain.end : begin;
    std::int64_t before = begin;
    MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_MAX, replay.comm);
    before = replay.rank == 0 ? begin : std::max(before, begin);
    bool is_whole = chain.is_whole && (chain.segments == 0 || chain.begin == before);
    for (std::size_t i = 0; i < path.pieces.size(); ++i) {
        const Piece& piece = path.pieces[i];
        is_whole = is_whole && (!has_segments(piece) || sums[i].ns == piece.end - piece.begin);
    }
    std::int64_t last[2] = {std::max(mine, before), is_whole ? 0 : 1};
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
    Source(PathCutter cutter, const Numbers& numbers, std::span<const std::uint32_t> names)
        : cutter_(std::move(cutter)), numbers_(numbers), names_(names)
    {
    }

    /// Calls `visit(number, segment)` for the next segments, as long as their numbers are below `limit`.
    template <class Visit>
    void until(std::uint64_t limit, Visit visit)
    {
        for (;;) {
            for (; used_ < part_.segments.size() && number_ < limit; ++used_, ++number_) {
                Segment segment = part_.segments[used_];
                if (segment.call < names_.size())
                    segment.call = names_[segment.call];
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
    Chain chain = in_order(replay, exchange_extents(replay, path, sums));
    check_chain(replay, path, sums, chain);
    std::uint64_t mine = chain.segments;
    std::uint64_t before = 0;
    MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, replay.comm);
    auto back = std::move(chain.first);
    for (auto& numbers : back)
        for (std::uint64_t& number : numbers)
            number += replay.rank == 0 ? 0 : before;
    // Answers come in the order of the shares, which is that of the pieces.
    const auto answers = replayer::exchange(replay.comm, back).items;
    Numbers result;
    auto next = answers.begin();
    for (const Piece& piece : path.pieces)
        result.first.push_back(has_segments(piece) ? *next++ : 0);
    MPI_Allreduce(&mine, &result.segments, 1, MPI_UINT64_T, MPI_SUM, replay.comm);
    return result;
}

void for_each_block(const Replay& replay, const Predecessors& predecessors, const Path& path, const Numbers& numbers,
                    std::span<const std::uint32_t> names, const VisitBlock& visit)
{
    Source source(PathCutter(replay, predecessors, path), numbers, names);
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

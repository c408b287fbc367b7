// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/blocks.hpp"

#include "formats/support/error.hpp"
#include "replayer/exchange.hpp"

#include <mpi.h>

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

/// A part of the makespan, divided into equal shares, one of each process, in their order.
struct Window {
    std::int64_t begin, end;  // ns

    [[nodiscard]] std::size_t home_of(std::int64_t time, int processes) const
    {
        __extension__ using Wide = __int128;
        const Wide share = Wide{time - begin} * processes / std::max<Wide>(Wide{end} - begin, 1);
        return static_cast<std::size_t>(std::clamp<Wide>(share, 0, processes - 1));
    }
};

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

/// Numbers the segments, some pieces at a time: an exchange of all at once would take more memory than the path.
class Numberer
{
public:
    Numberer(const Replay& replay, const Path& path, CutPieces cut)
        : replay_(replay), path_(path), result_{0, std::move(cut.segments)}, end_(path.begin.count()),
          is_whole_(cut.are_whole)
    {
    }

    Numbers run()
    {
        for (std::int64_t begin = path_.begin.count(); begin < everything;) {
            const std::int64_t end = agree_on_end();
            const std::size_t first = std::exchange(next_, first_from(end));
            number({begin, std::min(end, path_.begin.count() + path_.makespan.count())}, first);
            begin = end;
        }
        check();
        return std::move(result_);
    }

private:
    static constexpr std::size_t window = 16384;  // pieces of one process
    static constexpr std::int64_t everything = INT64_MAX;

    /// Of the next window, so that no process has more pieces that begin in it than that; the last one has everything.
    [[nodiscard]] std::int64_t agree_on_end() const
    {
        const Pieces& pieces = path_.pieces;
        std::int64_t end = everything;
        if (pieces.size() - next_ > window)
            end = std::max(pieces[next_ + window].begin, pieces[next_].begin + 1);
        MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_INT64_T, MPI_MIN, replay_.comm);
        return end;
    }

    [[nodiscard]] std::size_t first_from(std::int64_t end) const
    {
        std::size_t piece = next_;
        while (piece < path_.pieces.size() && (end == everything || path_.pieces[piece].begin < end))
            ++piece;
        return piece;
    }

    /// The pieces from `first` to next_.
    void number(Window time, std::size_t first)
    {
        auto out = lists_for<Extent>(replay_.size);
        for (std::size_t i = first; i < next_; ++i)
            if (const Piece& piece = path_.pieces[i]; has_segments(piece))
                out[time.home_of(piece.begin, replay_.size)].push_back({piece.begin, piece.end, result_.first[i]});
        Chain chain = in_order(replay_, replayer::exchange(replay_.comm, out));
        const std::uint64_t before = add_up(chain);
        for (auto& numbers : chain.first)
            for (std::uint64_t& number : numbers)
                number += before;
        // Answers come in the order of the shares, which is that of the pieces.
        const auto answers = replayer::exchange(replay_.comm, chain.first).items;
        auto next = answers.begin();
        for (std::size_t i = first; i < next_; ++i)
            result_.first[i] = has_segments(path_.pieces[i]) ? *next++ : 0;
    }

    /// How many segments are before the share of this process, of which it looks whether it follows on what is before
    /// it.
    std::uint64_t add_up(const Chain& chain)
    {
        std::uint64_t before = 0;
        MPI_Exscan(&chain.segments, &before, 1, MPI_UINT64_T, MPI_SUM, replay_.comm);
        before = result_.segments + (replay_.rank == 0 ? 0 : before);
        std::int64_t end = chain.segments > 0 ? chain.end : end_, end_before = end_;
        MPI_Exscan(&end, &end_before, 1, MPI_INT64_T, MPI_MAX, replay_.comm);
        end_before = replay_.rank == 0 ? end_ : end_before;
        is_whole_ = is_whole_ && chain.is_whole && (chain.segments == 0 || chain.begin == end_before);
        std::uint64_t segments = chain.segments;
        MPI_Allreduce(MPI_IN_PLACE, &segments, 1, MPI_UINT64_T, MPI_SUM, replay_.comm);
        MPI_Allreduce(MPI_IN_PLACE, &end, 1, MPI_INT64_T, MPI_MAX, replay_.comm);
        result_.segments += segments;
        end_ = end;
        return before;
    }

    /// Every piece begins where the one before it ended, and has been cut into segments that are as long.
    void check() const
    {
        if (!on_all(replay_.comm, is_whole_ && end_ == path_.begin.count() + path_.makespan.count()))
            fail(ExitCode::Failed,
                 "critical path: its segments are no chain over the {} ns that the run took; this is a defect of "
                 "cpreplay, please report it with the trace",
                 path_.makespan.count());
    }

    const Replay& replay_;
    const Path& path_;
    Numbers result_;        // `first` of pieces from next_ on: how many segments they have
    std::size_t next_ = 0;  // piece
    std::int64_t end_;      // ns, of the pieces before that
    bool is_whole_;
};

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

void CutCounter::add(const PathCutter::Part& part)
{
    pass(part.piece);
    cut_.segments[piece_] += part.segments.size();
    for (const Segment& segment : part.segments)
        ns_ += segment.end - segment.begin;
}

CutPieces CutCounter::take()
{
    pass(path_.pieces.size());
    return std::move(cut_);
}

/// Looks at what has come of those before `piece`.
void CutCounter::pass(std::size_t piece)
{
    for (; piece_ < piece; ++piece_, ns_ = 0) {
        const Piece& passed = path_.pieces[piece_];
        cut_.are_whole = cut_.are_whole && (!has_segments(passed) || ns_ == passed.end - passed.begin);
    }
}

Numbers number_segments(const Replay& replay, const Path& path, CutPieces cut)
{
    return Numberer(replay, path, std::move(cut)).run();
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

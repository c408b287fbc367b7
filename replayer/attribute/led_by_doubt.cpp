// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/led_by_doubt.hpp"

#include "replayer/exchange.hpp"
#include "replayer/restore/cut.hpp"

#include <algorithm>
#include <utility>

namespace critpath::replayer
{

namespace
{

using model::Confidence;
using model::Segment;

/// Where a doubtful jump begins, which is where a piece ends.
struct Begin {
    std::int64_t time;
    std::int64_t length;
    std::uint32_t location;
    std::uint32_t is_poll;
};

bool is_poll(const model::Definitions& definitions, model::ContextId context)
{
    return context.valid() && functions::is_poll(functions::semantic_class(definitions.region(context).function));
}

}  // namespace

std::vector<DoubtfulEnd> doubtful_ends(const Replay& replay, const Predecessors& predecessors, const Path& path)
{
    const PathCutter cutter(replay, predecessors, path);
    auto out = lists_for<Begin>(replay.size);
    for (const Piece& piece : path.pieces) {
        if (!piece.jumps())
            continue;
        const KnownJump jump = cutter.jump_of(piece);
        if (!model::is_doubtful(jump.confidence))
            continue;
        const bool by_clocks = jump.confidence == Confidence::WithinClocks;
        const Ns error = by_clocks ? replay.definitions.largest_uncertainty() : Ns{0};
        out[static_cast<std::size_t>(replay.owner_of(jump.to.location))].push_back(
            {piece.begin, piece.stretch - piece.begin + error.count(), jump.to.location.value,
             is_poll(replay.definitions, jump.context) ? 1U : 0U});
    }
    std::vector<DoubtfulEnd> result;
    for (const Begin& begin : replayer::exchange(replay.comm, out).items) {
        auto piece = std::ranges::lower_bound(path.pieces, begin.time, {}, &Piece::end);
        for (; piece != path.pieces.end() && piece->end == begin.time; ++piece)
            if (piece->location == begin.location)
                result.push_back(
                    {static_cast<std::size_t>(piece - path.pieces.begin()), Ns{begin.length}, begin.is_poll != 0});
    }
    std::ranges::sort(result, {}, &DoubtfulEnd::piece);
    return result;
}

void LedByDoubt::add(std::size_t piece, const Segment& segment)
{
    end_pieces(piece);
    const auto confidence = static_cast<Confidence>(segment.low_confidence);
    const std::int64_t ns = segment.end - segment.begin;
    if (model::is_doubtful(confidence)) {
        const std::int64_t error = confidence == Confidence::WithinClocks ? clock_error_ : 0;
        decide(model::may_lead(ns + error, is_poll(definitions_, {segment.call}), open_ns_));
        ns_ += ns;
    } else if (model::decides(segment)) {
        decide(false);
    } else {
        open_ns_ += ns;
    }
}

std::int64_t LedByDoubt::take()
{
    end_pieces(SIZE_MAX);
    return ns_;
}

void LedByDoubt::end_pieces(std::size_t before)
{
    if (piece_ == before)
        return;
    const bool is_doubtful = end_ != last_ && end_->piece == piece_;
    decide(is_doubtful && model::may_lead(end_->length.count(), end_->is_poll, open_ns_));
    piece_ = before;
    while (end_ != last_ && end_->piece < before)
        ++end_;
}

void LedByDoubt::decide(bool may_lead)
{
    ns_ += may_lead ? open_ns_ : 0;
    open_ns_ = 0;
}

}  // namespace critpath::replayer

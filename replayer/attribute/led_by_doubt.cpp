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

using model::Segment;
using model::SegmentKind;

/// Where a doubtful jump begins, which is where a piece ends.
struct Begin {
    std::int64_t time;
    std::uint32_t location;
};

}  // namespace

std::vector<bool> led_by_doubt(const Replay& replay, const Predecessors& predecessors, const Path& path)
{
    const PathCutter cutter(replay, predecessors, path);
    auto out = lists_for<Begin>(replay.size);
    for (const Piece& piece : path.pieces)
        if (piece.jumps())
            if (const KnownJump jump = cutter.jump_of(piece); model::is_doubtful(jump.confidence))
                out[static_cast<std::size_t>(replay.owner_of(jump.to.location))].push_back(
                    {piece.begin, jump.to.location.value});
    std::vector<bool> result(path.pieces.size());
    for (const Begin& begin : replayer::exchange(replay.comm, out).items) {
        auto piece = std::ranges::lower_bound(path.pieces, begin.time, {}, &Piece::end);
        for (; piece != path.pieces.end() && piece->end == begin.time; ++piece)
            if (piece->location == begin.location)
                result[static_cast<std::size_t>(piece - path.pieces.begin())] = true;
    }
    return result;
}

void LedByDoubt::add(const Segment& segment)
{
    const auto kind = static_cast<SegmentKind>(segment.kind);
    const bool is_doubtful = model::is_doubtful(static_cast<model::Confidence>(segment.low_confidence));
    const bool decides = is_doubtful || kind == SegmentKind::Transfer || kind == SegmentKind::Collective ||
                         kind == SegmentKind::Delay || kind == SegmentKind::Thread;
    open_ns_ += segment.end - segment.begin;
    if (decides)
        end_piece(is_doubtful);
}

void LedByDoubt::end_piece(bool doubtful)
{
    ns_ += doubtful ? open_ns_ : 0;
    open_ns_ = 0;
}

}  // namespace critpath::replayer

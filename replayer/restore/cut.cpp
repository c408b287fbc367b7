// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/cut.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using model::Ns;
using model::RegionId;
using model::Segment;
using model::SegmentKind;

class Cutter
{
public:
    Cutter(const model::LocationTrace& trace, Ns origin) : trace_(trace), origin_(origin) {}

    /// Adds [begin, end] with what was not recorded and the collector's own time carved out. `like` gives the rest.
    void add(Ns begin, Ns end, const Segment& like)
    {
        auto off = first_behind(trace_.unrecorded, begin);
        for (; off != trace_.unrecorded.end() && off->begin < end; ++off) {
            add_recorded(begin, std::max(begin, off->begin), like);
            push(std::max(begin, off->begin), std::min(end, off->end), as(SegmentKind::Unrecorded, like));
            begin = std::min(end, off->end);
        }
        add_recorded(begin, end, like);
    }

    void push(Ns begin, Ns end, Segment segment)
    {
        if (end <= begin)
            return;
        segment.begin = (begin - origin_).count();
        segment.end = (end - origin_).count();
        segments_.push_back(segment);
    }

    std::vector<Segment> take() { return std::move(segments_); }

private:
    using Intervals = std::vector<model::Interval>;

    static Intervals::const_iterator first_behind(const Intervals& intervals, Ns time)
    {
        return std::ranges::partition_point(intervals, [&](const model::Interval& i) { return i.end <= time; });
    }

    static Segment as(SegmentKind kind, Segment segment)
    {
        segment.kind = static_cast<std::uint8_t>(kind);
        segment.low_confidence = 0;
        return segment;
    }

    void add_recorded(Ns begin, Ns end, const Segment& like)
    {
        auto tool = first_behind(trace_.tool, begin);
        for (; tool != trace_.tool.end() && tool->begin < end; ++tool) {
            push(begin, std::max(begin, tool->begin), like);
            push(std::max(begin, tool->begin), std::min(end, tool->end), as(SegmentKind::Tool, like));
            begin = std::min(end, tool->end);
        }
        push(begin, end, like);
    }

    const model::LocationTrace& trace_;
    Ns origin_;
    std::vector<Segment> segments_;
};

Segment segment_like(std::uint32_t location, SegmentKind kind, RegionId function, bool low_confidence = false)
{
    Segment segment{};
    segment.location = location;
    segment.from = location;
    segment.function = function.value;
    segment.kind = static_cast<std::uint8_t>(kind);
    segment.low_confidence = low_confidence ? 1 : 0;
    return segment;
}

/// Times of calls are clipped to the stretch and to each other: only clocks that contradict themselves need it.
void cut_stretch(const Piece& piece, const model::LocationTrace& trace, const LocationPredecessors& predecessors,
                 Cutter& cutter)
{
    const model::Calls& calls = trace.calls;
    const Ns end{piece.end};
    Ns time{piece.begin};
    const auto entered = [&] {
        return static_cast<std::size_t>(std::ranges::lower_bound(calls.enter, end) - calls.enter.begin());
    };
    const std::size_t end_call = piece.end_call == Piece::by_time ? entered() : piece.end_call;
    const auto before = [&](std::size_t i) { return i > 0 ? calls.region[i - 1] : RegionId::none(); };
    for (std::size_t i = piece.first_call; i < end_call; ++i) {
        const Ns enter = std::clamp(calls.enter[i], time, end);
        const Ns leave = std::clamp(calls.leave[i], enter, end);
        cutter.add(time, enter, segment_like(piece.location, SegmentKind::Compute, before(i)));
        const Through& through = predecessors.through[i];
        cutter.add(enter, leave, segment_like(piece.location, through.kind, calls.region[i], through.low_confidence));
        time = leave;
    }
    const std::size_t next = std::max<std::size_t>(end_call, piece.first_call);
    cutter.add(time, end, segment_like(piece.location, SegmentKind::Compute, before(next)));
}

}  // namespace

std::vector<Segment> cut(const Piece& piece, const model::LocationTrace& trace,
                         const LocationPredecessors& predecessors, Ns origin)
{
    Cutter cutter(trace, origin);
    switch (piece.kind) {
    case Piece::Kind::Stretch:
        cut_stretch(piece, trace, predecessors, cutter);
        break;
    case Piece::Kind::StartDelay:
        cutter.push(Ns{piece.begin}, Ns{piece.end},
                    segment_like(piece.location, SegmentKind::StartDelay, RegionId::none()));
        break;
    case Piece::Kind::Jump: {
        Segment jump = segment_like(piece.location, piece.segment_kind, {piece.region}, piece.low_confidence);
        jump.from = piece.from;
        jump.bytes = piece.bytes;
        cutter.push(Ns{piece.begin}, Ns{piece.end}, jump);
        break;
    }
    }
    return cutter.take();
}

}  // namespace critpath::replayer

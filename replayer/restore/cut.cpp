// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/cut.hpp"

#include "replayer/pair/lack.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using model::ContextId;
using model::Ns;
using model::Segment;
using model::SegmentKind;
using Segments = std::vector<Segment>;

std::vector<model::Interval>::const_iterator first_behind(const std::vector<model::Interval>& intervals, Ns time)
{
    return std::ranges::partition_point(intervals, [&](const model::Interval& i) { return i.end <= time; });
}

Segment segment_like(std::uint32_t location, SegmentKind kind, ContextId context,
                     model::Confidence confidence = model::Confidence::Full)
{
    Segment segment{};
    segment.location = location;
    segment.other = location;
    segment.call = context.value;
    segment.kind = static_cast<std::uint8_t>(kind);
    segment.low_confidence = static_cast<std::uint8_t>(confidence);
    return segment;
}

/// When the time without a processor began that ended at a point.
Ns begin_of_wait(const model::LocationTrace& trace, Ns point)
{
    const auto off = std::ranges::lower_bound(trace.off, point, {}, &model::OffProcessor::end);
    return off != trace.off.end() && off->end == point ? off->begin : point;
}

Segment as(SegmentKind kind, Segment segment)
{
    segment.kind = static_cast<std::uint8_t>(kind);
    segment.low_confidence = 0;
    return segment;
}

}  // namespace

PieceCutter::PieceCutter(const Piece& piece, const model::LocationTrace& trace,
                         const LocationPredecessors& predecessors, Ns origin)
    : piece_(piece), trace_(trace), predecessors_(predecessors), origin_(origin), time_(piece.stretch),
      call_(piece.first_call), end_call_(piece.end_call), unrecorded_(first_behind(trace.unrecorded, time_)),
      tool_(first_behind(trace.tool, time_))
{
    if (piece.end_call == Piece::by_time) {
        const auto& enters = trace.calls.enters();
        end_call_ = static_cast<std::size_t>(std::ranges::lower_bound(enters, Ns{piece.end}) - enters.begin());
    }
}

bool PieceCutter::next(Segments& out, std::size_t enough)
{
    if (at_end_)
        return false;
    while (!at_end_ && out.size() < enough)
        next_call(out);
    return true;
}

void PieceCutter::add_start_delay(Segments& out)
{
    push(Ns{piece_.begin}, Ns{piece_.stretch},
         segment_like(piece_.location, SegmentKind::StartDelay, ContextId::none()), out);
}

void PieceCutter::add_jump(const KnownJump& jump, Ns arrival, bool is_own, Segments& out)
{
    const Ns begin{piece_.begin};
    const Ns end{piece_.stretch};
    Segment segment = segment_like(piece_.location, jump.kind, jump.context, jump.confidence);
    segment.other = jump.to.location.value;
    segment.bytes = jump.bytes;
    if (jump.kind == SegmentKind::Transfer) {
        segment.flags = jump.sends ? Segment::sends : 0;
        if (is_own && jump.peer.valid()) {
            segment.begin_with_own(jump.to.location.value);
            segment.other = jump.peer.value;
        }
    }
    push(begin, std::min(arrival, end), segment, out);
    // Whatever came last, and from whom, it had to wait for that.
    const bool is_sure = jump.confidence != model::Confidence::WithinClocks;
    push(arrival, end,
         segment_like(piece_.location, SegmentKind::Delay, jump.context,
                      is_sure ? model::Confidence::Full : jump.confidence),
         out);
}

/// Computation up to the next call, and that call; at last, what is behind the last one. A wait for which it is in
/// doubt whether the path comes from another thread is computation of its own. Times of calls are clipped to
/// the stretch and to each other: only clocks that contradict themselves need it.
void PieceCutter::next_call(Segments& out)
{
    const Ns end{piece_.end};
    const std::uint32_t location = piece_.location;
    if (call_ >= end_call_) {
        const std::size_t next = std::max<std::size_t>(end_call_, piece_.first_call);
        add(time_, end, segment_like(location, SegmentKind::Compute, context_before(next)), out);
        at_end_ = true;
        return;
    }
    const model::Calls& calls = trace_.calls;
    if (calls.is_point(call_)) {
        if (const model::Confidence confidence = predecessors_.through[call_].confidence; is_doubtful(confidence)) {
            const Ns until = std::clamp(calls.enter(call_), time_, end);
            const Ns since = std::clamp(begin_of_wait(trace_, calls.enter(call_)), time_, until);
            const ContextId context = context_before(call_);
            add(time_, since, segment_like(location, SegmentKind::Compute, context), out);
            add(since, until, segment_like(location, SegmentKind::Compute, context, confidence), out);
            time_ = until;
        }
        ++call_;
        return;
    }
    const Ns enter = std::clamp(calls.enter(call_), time_, end);
    const Ns leave = std::clamp(calls.leave(call_), enter, end);
    add(time_, enter, segment_like(location, SegmentKind::Compute, context_before(call_)), out);
    const Through through = through_call(enter, leave);
    add(enter, leave, segment_like(location, through.kind, calls.context(call_), through.confidence), out);
    time_ = leave;
    ++call_;
}

/// How the path goes through the next call, or this part of it. Of a call that nobody else explains, it is no doubt
/// that it is itself what took long if it had no processor for most of that, and at last.
Through PieceCutter::through_call(Ns enter, Ns leave) const
{
    using enum model::Confidence;
    constexpr Ns transfer = std::chrono::microseconds{10};  // what a call may still have to do at last, or may not
    if (piece_.is_preempted())
        return Through{SegmentKind::Mpi, piece_.lead == Piece::preempted ? Full : Low};
    Through through = predecessors_.through[call_];
    if (through.confidence == Low &&
        2 * (lacks_processor_since(trace_, enter, leave, transfer) - enter) < leave - enter)
        through.confidence = Full;
    return through;
}

ContextId PieceCutter::context_before(std::size_t call) const
{
    return call > 0 ? trace_.calls.context(call - 1) : ContextId::none();
}

/// [begin, end] with what was not recorded and the collector's own time carved out. `like` gives the rest.
void PieceCutter::add(Ns begin, Ns end, const Segment& like, Segments& out)
{
    const auto is_behind = [&](auto next, const Intervals& all) { return next == all.end() || next->begin >= end; };
    if (is_behind(tool_, trace_.tool) && is_behind(unrecorded_, trace_.unrecorded))
        push(begin, end, like, out);
    else
        carve(begin, end, like, out);
}

void PieceCutter::carve(Ns begin, Ns end, const Segment& like, Segments& out)
{
    while (unrecorded_ != trace_.unrecorded.end() && unrecorded_->begin < end) {
        add_recorded(begin, std::max(begin, unrecorded_->begin), like, out);
        const Ns until = std::min(end, unrecorded_->end);
        push(std::max(begin, unrecorded_->begin), until, as(SegmentKind::Unrecorded, like), out);
        begin = std::max(begin, until);
        if (unrecorded_->end > end)
            break;
        ++unrecorded_;
    }
    add_recorded(begin, end, like, out);
}

void PieceCutter::add_recorded(Ns begin, Ns end, const Segment& like, Segments& out)
{
    while (tool_ != trace_.tool.end() && tool_->begin < end) {
        push(begin, std::max(begin, tool_->begin), like, out);
        const Ns until = std::min(end, tool_->end);
        push(std::max(begin, tool_->begin), until, as(SegmentKind::Tool, like), out);
        begin = std::max(begin, until);
        if (tool_->end > end)
            break;
        ++tool_;
    }
    push(begin, end, like, out);
}

void PieceCutter::push(Ns begin, Ns end, const Segment& like, Segments& out) const
{
    if (end <= begin)
        return;
    Segment& segment = out.emplace_back(like);
    segment.begin = (begin - origin_).count();
    segment.end = (end - origin_).count();
}

std::optional<PathCutter::Part> PathCutter::next()
{
    constexpr std::size_t enough = 1024;  // they stay in the cache
    segments_.clear();
    while (piece_ < path_.pieces.size()) {
        if (!cutter_)
            begin_piece(path_.pieces[piece_]);
        if (cutter_->next(segments_, enough))
            return Part{piece_, segments_};
        cutter_.reset();
        ++piece_;
    }
    return std::nullopt;
}

/// What leads to the piece is cut here.
void PathCutter::begin_piece(const Piece& piece)
{
    const Place place = place_of(piece);
    PieceCutter& cutter = cutter_.emplace(piece, place.trace, place.predecessors, path_.begin);
    if (piece.lead == Piece::start_delay)
        cutter.add_start_delay(segments_);
    if (!piece.jumps())
        return;
    const KnownJump jump = place.predecessors.jumps.known(piece.lead, place.trace);
    cutter.add_jump(jump, arrival_by(jump, piece), has_own_lead(piece, jump), segments_);
}

KnownJump PathCutter::jump_of(const Piece& piece) const
{
    const Place place = place_of(piece);
    return place.predecessors.jumps.known(piece.lead, place.trace);
}

Ns PathCutter::arrival_by(const KnownJump& jump, const Piece& piece) const
{
    const Ns begin{piece.begin}, end{piece.stretch};
    const model::LocationTrace& trace = place_of(piece).trace;
    if (end <= begin || jump.kind != SegmentKind::Transfer || trace.off.empty())
        return end;
    const bool is_own = has_own_lead(piece, jump) && jump.peer.valid();
    const rules::Link link = link_between(replay_.definitions, process_of(is_own ? jump.peer : jump.to.location),
                                          process_of({piece.location}));
    return lacks_processor_since(trace, begin, end, predecessors_.transfer_time(link, jump.bytes));
}

bool PathCutter::has_own_lead(const Piece& piece, const KnownJump& jump) const
{
    return process_of(jump.to.location) == process_of({piece.location});
}

model::ProcessId PathCutter::process_of(model::LocationId location) const
{
    return replay_.definitions.locations[location.value].process;
}

PathCutter::Place PathCutter::place_of(const Piece& piece) const
{
    const std::size_t p = replay_.index_of(process_of({piece.location}));
    const std::size_t l = local_index(replay_.processes[p], {piece.location});
    return {replay_.processes[p].locations[l], predecessors_.processes[p][l]};
}

}  // namespace critpath::replayer

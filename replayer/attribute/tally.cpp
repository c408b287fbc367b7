// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/tally.hpp"

#include "replayer/attribute/count.hpp"
#include "replayer/attribute/divide.hpp"
#include "replayer/attribute/inside.hpp"
#include "replayer/attribute/sample_weights.hpp"
#include "replayer/order.hpp"

#include <algorithm>
#include <span>

namespace critpath::replayer
{

namespace
{

using model::ContextId;
using model::LocationTrace;
using model::Ns;
using model::Segment;
using model::SegmentKind;

/// Of its calls and points, those that are not left out because a recording ended too early.
std::uint64_t analyzed(const Replay& replay, const model::LocationTrace& location)
{
    const auto& enters = location.calls.enters();
    return replay.incomplete
               ? static_cast<std::uint64_t>(std::ranges::upper_bound(enters, location.end) - enters.begin())
               : enters.size();
}

/// In order and apart from each other.
std::vector<model::Interval> joined(std::vector<model::Interval> intervals)
{
    std::ranges::sort(intervals, {}, &model::Interval::begin);
    std::vector<model::Interval> apart;
    for (const model::Interval& interval : intervals) {
        if (!apart.empty() && interval.begin <= apart.back().end)
            apart.back().end = std::max(apart.back().end, interval.end);
        else
            apart.push_back(interval);
    }
    return apart;
}

/// How much of a location's time was recorded and is not the collector's own: outside of calls, what would be
/// computation if it were on the path (restore/cut.cpp).
class OwnTime
{
public:
    explicit OwnTime(const LocationTrace& location)
    {
        std::vector<model::Interval> left_out = location.tool;
        left_out.insert(left_out.end(), location.unrecorded.begin(), location.unrecorded.end());
        left_out_ = joined(std::move(left_out));
    }

    /// Calls `visit(begin, end)` for the parts of [begin, end), which comes behind what was asked for before.
    template <class Visit>
    void for_each_in(Ns begin, Ns end, Visit visit)
    {
        for (; next_ < left_out_.size() && left_out_[next_].begin < end; ++next_) {
            if (left_out_[next_].begin > begin)
                visit(begin, left_out_[next_].begin);
            begin = std::max(begin, left_out_[next_].end);
            if (begin >= end)
                return;
        }
        if (end > begin)
            visit(begin, end);
    }

private:
    std::vector<model::Interval> left_out_;
    std::size_t next_ = 0;
};

/// The calls of a location that are not left out.
struct Rows {
    std::uint64_t number;
    bool are_in_order;  // each is behind those before it and over by the end of the location, and so are points
};

/// The call of MPI that a thread was in, which has that time in the totals already.
class InCalls
{
public:
    InCalls(const LocationTrace& location, const Rows& rows) : location_(location), rows_(rows), leave_(location.begin)
    {
        advance();
    }

    /// Calls `visit(begin, end, context)` for the parts of [begin, end) in calls, and with none() for those between
    /// them. Each begins behind the one that was asked for before.
    template <class Visit>
    void for_each_part(Ns begin, Ns end, Visit visit)
    {
        if (is_any_ && leave_ <= begin)
            pass(begin);
        for (; is_any_ && enter_ < end; advance()) {
            if (begin < enter_)
                visit(begin, enter_, ContextId::none());
            begin = std::max(begin, enter_);
            const Ns until = std::min(end, leave_);
            if (begin < until)
                visit(begin, until, location_.calls.context(row_));
            begin = std::max(begin, until);
            if (leave_ >= end)
                return;
        }
        if (begin < end)
            visit(begin, end, ContextId::none());
    }

    [[nodiscard]] bool contains(Ns time)
    {
        bool is_in = false;
        for_each_part(time, time + Ns{1}, [&](Ns, Ns, ContextId call) { is_in = call.valid(); });
        return is_in;
    }

private:
    /// The calls that are over by then.
    void pass(Ns time)
    {
        const model::Calls& calls = location_.calls;
        if (rows_.are_in_order)
            row_ = count_first(
                       rows_.number, [&](std::size_t i) { return calls.leave(i) <= time; }, row_ + 1) -
                   1;
        do
            advance();
        while (is_any_ && leave_ <= time);
    }

    void advance()
    {
        row_ = is_any_ ? row_ + 1 : 0;
        while (row_ < rows_.number && location_.calls.is_point(row_))
            ++row_;
        is_any_ = row_ < rows_.number;
        if (!is_any_)
            return;
        enter_ = std::clamp(location_.calls.enter(row_), leave_, std::max(leave_, location_.end));
        leave_ = std::clamp(location_.calls.leave(row_), enter_, std::max(enter_, location_.end));
    }

    const LocationTrace& location_;
    Rows rows_;
    std::uint64_t row_ = 0;
    bool is_any_ = false;
    Ns enter_{};
    Ns leave_;
};

class Tallier
{
public:
    Tallier(const Replay& replay, const Path& path, const SpinFunctions& spin, const SampleWeights& weights)
        : replay_(replay), definitions_(replay.definitions), weights_(weights), code_(definitions_, replay.processes),
          counter_(replay, {path.begin, path.begin + path.makespan}, code_, result_),
          divider_(replay, path.begin, code_, weights, counter_, result_),
          inside_(replay, spin, code_, path.begin, result_)
    {
        result_.on_path.resize(definitions_.contexts.size());
        result_.totals = Totals(definitions_.contexts.size(), path.begin, path.makespan);
    }

    void add_process(const model::ProcessTrace& trace)
    {
        const model::Process& process = definitions_.processes[trace.process.value];
        model::ProcessTotals& totals = result_.processes[trace.process.value];
        totals.name = process.name;
        totals.node = process.node;
        if (!trace.locations.empty())
            totals.lifetime_ns = (trace.locations.front().end - trace.locations.front().begin).count();
        if (definitions_.has_samples)
            result_.coverage[trace.process.value] = {};
        for (const LocationTrace& location : trace.locations)
            add_location(location, totals);
    }

    /// Of one location.
    void add_segments(std::span<const Segment> segments)
    {
        if (segments.empty())
            return;
        const std::uint32_t process = definitions_.locations[segments.front().location].process.value;
        model::ProcessTotals& totals = result_.processes[process];
        for (const Segment& segment : segments) {
            totals.path_ns += segment.end - segment.begin;
            add_segment(segment, process);
        }
    }

    Tally take()
    {
        counter_.finish();
        result_.totals.finish();
        return std::move(result_);
    }

private:
    void add_segment(const Segment& segment, std::uint32_t process)
    {
        const std::int64_t ns = segment.end - segment.begin;
        const auto kind = static_cast<SegmentKind>(segment.kind);
        const bool in_call = kind == SegmentKind::Mpi || kind == SegmentKind::Transfer ||
                             kind == SegmentKind::Collective || kind == SegmentKind::Delay;
        const ContextId context{segment.call};
        if (context.valid())
            result_.on_path[context.value] = true;
        const model::RegionId function =
            in_call && context.valid() ? definitions_.contexts[context.value].region : model::RegionId::none();
        result_.kinds[{kind, function, process}].add(ns, 1);
        const bool is_low = is_doubtful(static_cast<model::Confidence>(segment.low_confidence));
        result_.low_confidence_ns += is_low ? ns : 0;
        result_.low_confidence_segments += is_low ? 1 : 0;
        switch (kind) {
        case SegmentKind::Compute:
            divider_.add_computation(segment);
            counter_.add(segment);
            break;
        case SegmentKind::Mpi:
        case SegmentKind::Delay:
        case SegmentKind::Collective:
            divider_.add_call(segment);
            counter_.add(segment);
            inside_.add_call(segment);
            break;
        case SegmentKind::Transfer:
            divider_.add_transfer(segment);
            break;
        case SegmentKind::StartDelay:
            result_.add_path({ContextId::none(), Pseudo::StartDelay}, process, ns);
            break;
        case SegmentKind::Tool:
            result_.add_path({ContextId::none(), Pseudo::Measurement}, process, ns);
            break;
        case SegmentKind::Unrecorded:
            result_.add_path({ContextId::none(), Pseudo::NotRecorded}, process, ns);
            break;
        case SegmentKind::Thread:
            result_.add_path({ContextId::none(), Pseudo::Threads}, process, ns);
            break;
        }
    }

    void add_location(const LocationTrace& location, model::ProcessTotals& totals)
    {
        const model::Calls& calls = location.calls;
        Rows rows{analyzed(replay_, location), true};
        const model::ProcessId process = definitions_.locations[location.location.value].process;
        const bool is_first = definitions_.processes[process.value].locations.front() == location.location;
        std::int64_t& computed_ns = result_.computed_ns[location.location.value];
        const auto add_computed = [&](Ns begin, Ns end) {
            computed_ns += (end - begin).count();
            result_.totals.add_computed(begin, end);
        };
        result_.totals.begin_thread(location.location);
        OwnTime own(location);
        Ns time = location.begin, over = location.begin;
        for (std::size_t i = 0; i < rows.number; ++i) {
            const Ns entered = calls.enter(i), left = calls.leave(i);
            rows.are_in_order = rows.are_in_order && over <= entered && entered <= left && left <= location.end;
            over = left;
            if (calls.is_point(i))
                continue;
            ++totals.calls;
            const Ns enter = std::clamp(entered, time, std::max(time, location.end));
            const Ns leave = std::clamp(left, enter, std::max(enter, location.end));
            totals.mpi_ns += (leave - enter).count();
            result_.totals.add({calls.context(i)}, enter, leave, true);
            own.for_each_in(time, enter, add_computed);
            if (!definitions_.has_samples)
                add_user_regions(location, time, enter, is_first);
            time = leave;
        }
        own.for_each_in(time, location.end, add_computed);
        if (!definitions_.has_samples)
            add_user_regions(location, time, location.end, is_first);
        add_samples(location, rows, totals, is_first);
        add_off(location, rows, is_first);
    }

    /// Time without a processor, which nothing else is to have: what lies in a call is not the function's then, as on
    /// the path, and what lies in the collector is its time.
    void add_off(const LocationTrace& location, const Rows& rows, bool is_first)
    {
        InCalls in_calls(location, rows);
        OwnTime own(location);
        for (const model::OffProcessor& off : location.off)
            in_calls.for_each_part(off.begin, off.end, [&](Ns begin, Ns end, ContextId call) {
                if (!call.valid() && !definitions_.has_samples)
                    return;  // regions have it
                if (!call.valid())
                    own.for_each_in(begin, end, [&](Ns from, Ns to) {
                        result_.totals.add(divider_.place_of(off, location, from, to), from, to, is_first);
                    });
                else if (!divider_.is_of_call(off, call))
                    result_.totals.move({call}, divider_.place_in_call(off, call), begin, end, true);
            });
    }

    /// And what the collector has recorded of its own time, which is not to be counted twice.
    void add_samples(const LocationTrace& location, const Rows& rows, model::ProcessTotals& totals, bool is_first)
    {
        const std::vector<model::Interval> tool = joined(location.tool);
        InCalls in_calls_of_tool(location, rows);
        for (const model::Interval& interval : tool)
            in_calls_of_tool.for_each_part(interval.begin, interval.end, [&](Ns begin, Ns end, ContextId call) {
                const Place place{ContextId::none(), Pseudo::Measurement};
                if (call.valid())
                    result_.totals.add_in_call(place, begin, end, is_first);
                else
                    result_.totals.add(place, begin, end, is_first);
            });
        InCalls in_calls(location, rows);
        auto known = tool.begin();  // samples are in order
        for (const model::Sample& sample : location.samples) {
            ++totals.samples;
            totals.sampled_ns += sample.weight;
            while (known != tool.end() && known->end <= sample.time)
                ++known;
            if (!sample.context.valid())
                continue;
            const Place place = divider_.place_of(sample);
            // Whatever function it is in: those that the collector calls need not look like it.
            if (known != tool.end() && known->begin <= sample.time) {
                result_.totals.mention(place);  // its counts are there
                continue;
            }
            const std::int64_t ns = weights_.of_all(location, sample);
            result_.totals.add_sample(place, sample.time, ns, is_first, in_calls.contains(sample.time));
            if (const std::uint64_t address = address_in(place, sample); address != 0)
                result_.total_addresses[{sample.context.value, address}].add(ns, 1);
        }
    }

    void add_user_regions(const LocationTrace& location, Ns begin, Ns end, bool is_first)
    {
        if (location.user_regions.empty()) {
            result_.totals.add({ContextId::none(), Pseudo::Compute}, begin, end, is_first);
            return;
        }
        for_each_user_region(location, begin, end, [&](Place place, std::int64_t ns) {
            result_.totals.add(place, begin, begin + Ns{ns}, is_first);
            begin += Ns{ns};
        });
    }

    const Replay& replay_;
    const model::Definitions& definitions_;
    const SampleWeights& weights_;
    Tally result_;
    SampledCode code_;
    CountDivider counter_;  // adds to it,
    PathDivider divider_;   // and so do these
    InsideFinder inside_;
};

}  // namespace

std::vector<Place> Tally::places() const
{
    std::vector<Place> result;
    for (const auto& [key, amount] : path)
        result.push_back(key.place);
    for (const Place& place : totals.places())
        result.push_back(place);
    for (const auto& [key, amounts] : events)
        result.push_back(key.place);
    for (const auto& [key, amount] : stretch_code)
        result.push_back(key.second);
    for (std::uint32_t context = 0; context < on_path.size(); ++context)
        if (on_path[context])
            result.push_back({model::ContextId{context}});
    return result;
}

Tally tally(const Replay& replay, const Predecessors& predecessors, const Path& path, const SpinFunctions& spin,
            const SampleWeights& weights, const std::vector<DoubtfulEnd>& doubtful_ends)
{
    Tallier tallier(replay, path, spin, weights);
    for (const model::ProcessTrace& trace : replay.processes)
        tallier.add_process(trace);
    CutCounter counter(path);
    std::vector<Choices> choices(several_clocks(replay.definitions) ? path.pieces.size() : 0);
    PathCutter cutter(replay, predecessors, path);
    for (std::size_t i = 0; i < choices.size(); ++i)
        if (const Piece& piece = path.pieces[i]; piece.jumps()) {
            const KnownJump jump = cutter.jump_of(piece);
            choices[i].from = jump.to.location.value;
            if (piece.stretch <= piece.begin)
                choices[i].add(jump.kind, jump.confidence, 0);  // it has no segment
        }
    LedByDoubt led_by_doubt(replay.definitions, doubtful_ends);
    while (const auto part = cutter.next()) {
        counter.add(*part);
        for (const Segment& segment : part->segments) {
            if (!choices.empty())
                choices[part->piece].add(segment);
            led_by_doubt.add(part->piece, segment);
        }
        tallier.add_segments(part->segments);
    }
    Tally result = tallier.take();
    result.led_by_doubt_ns = led_by_doubt.take();
    result.cut = counter.take();
    result.choices = std::move(choices);
    return result;
}

}  // namespace critpath::replayer

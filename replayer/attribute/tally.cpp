// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/tally.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using model::ContextId;
using model::LocationTrace;
using model::Ns;
using model::Segment;
using model::SegmentKind;

/// Calls `visit(context, ns)` for each innermost user region in [begin, end); none() where there is none.
template <class Visit>
void for_each_user_region(const LocationTrace& location, Ns begin, Ns end, Visit visit)
{
    const auto& changes = location.user_regions;
    auto next = std::ranges::upper_bound(changes, begin, {}, &model::RegionChange::time);
    ContextId context = next == changes.begin() ? ContextId::none() : std::prev(next)->context;
    while (begin < end) {
        const Ns until = next == changes.end() ? end : std::min(end, next->time);
        if (until > begin)
            visit(context, (until - begin).count());
        begin = until;
        if (next != changes.end())
            context = (next++)->context;
    }
}

Place user_place(ContextId context)
{
    return context.valid() ? Place{context} : Place{ContextId::none(), Pseudo::Compute};
}

/// Calls `visit(sample)` for the samples in [begin, end).
template <class Visit>
void for_each_sample(const LocationTrace& location, Ns begin, Ns end, Visit visit)
{
    for (auto s = std::ranges::lower_bound(location.samples, begin, {}, &model::Sample::time);
         s != location.samples.end() && s->time < end; ++s)
        visit(*s);
}

/// Of its calls and points, those that are not left out because a recording ended too early.
std::uint64_t analyzed(const Replay& replay, const model::LocationTrace& location)
{
    const auto& enters = location.calls.enters();
    return replay.incomplete
               ? static_cast<std::uint64_t>(std::ranges::upper_bound(enters, location.end) - enters.begin())
               : enters.size();
}

/// How the contexts of a trace hang together.
class ContextTree
{
public:
    explicit ContextTree(const std::vector<model::CallingContext>& contexts) : contexts_(contexts)
    {
        depth_.assign(contexts.size(), unknown);
        std::vector<ContextId> above;
        for (std::uint32_t i = 0; i < contexts.size(); ++i) {
            for (ContextId c{i}; c.valid() && depth_[c.value] == unknown; c = contexts[c.value].parent)
                above.push_back(c);
            for (; !above.empty(); above.pop_back()) {
                const ContextId parent = contexts[above.back().value].parent;
                depth_[above.back().value] = parent.valid() ? depth_[parent.value] + 1 : 0;
            }
        }
    }

    [[nodiscard]] ContextId parent(ContextId context) const
    {
        return context.valid() ? contexts_[context.value].parent : ContextId::none();
    }

    /// The last context that both paths come by; none() if there is none.
    [[nodiscard]] ContextId common(ContextId a, ContextId b) const
    {
        while (a.valid() && b.valid() && a != b) {
            if (depth_[a.value] >= depth_[b.value])
                a = parent(a);
            else
                b = parent(b);
        }
        return a == b ? a : ContextId::none();
    }

private:
    static constexpr std::uint32_t unknown = UINT32_MAX;

    const std::vector<model::CallingContext>& contexts_;
    std::vector<std::uint32_t> depth_;
};

class Tallier
{
public:
    Tallier(const Replay& replay, Ns origin)
        : replay_(replay), definitions_(replay.definitions), tree_(definitions_.contexts), origin_(origin)
    {
        result_.on_path.resize(definitions_.contexts.size());
        result_.totals.resize(definitions_.contexts.size());
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

    void add_segment(const Segment& segment)
    {
        const std::uint32_t process = definitions_.locations[segment.location].process.value;
        const std::int64_t ns = segment.end - segment.begin;
        const auto kind = static_cast<SegmentKind>(segment.kind);
        const bool in_call = kind == SegmentKind::Mpi || kind == SegmentKind::Transfer ||
                             kind == SegmentKind::Collective || kind == SegmentKind::Delay;
        const ContextId context{segment.function};
        if (context.valid())
            result_.on_path[context.value] = true;
        const std::uint32_t function =
            in_call && context.valid() ? definitions_.contexts[context.value].region.value : UINT32_MAX;
        result_.kinds[{kind, function, process}].add(ns, 1);
        result_.processes[process].path_ns += ns;
        const auto confidence = static_cast<model::Confidence>(segment.low_confidence);
        const bool is_low = confidence == model::Confidence::Low || confidence == model::Confidence::WithinClocks;
        result_.low_confidence_ns += is_low ? ns : 0;
        switch (kind) {
        case SegmentKind::Compute:
            divide(segment, process);
            break;
        case SegmentKind::Transfer:
            add_path({context, Pseudo::Transfer}, process, ns);
            break;
        case SegmentKind::Mpi:
        case SegmentKind::Delay:
            add_path({context}, process, ns - add_off(segment, process, context));
            break;
        case SegmentKind::Collective:  // to wait for data is what it is about
            add_path({context}, process, ns - add_off(segment, process, context, Off::Preempted));
            break;
        case SegmentKind::StartDelay:
            add_path(Pseudo::StartDelay, process, ns);
            break;
        case SegmentKind::Tool:
            add_path(Pseudo::Measurement, process, ns);
            break;
        case SegmentKind::Unrecorded:
            add_path(Pseudo::NotRecorded, process, ns);
            break;
        case SegmentKind::Thread:
            add_path(Pseudo::Threads, process, ns);
            break;
        }
    }

    Tally take() { return std::move(result_); }

private:
    void add_path(Place place, std::uint32_t process, std::int64_t ns, std::uint64_t samples = 0)
    {
        if (ns != 0 || samples != 0)
            result_.path[{place, process}].add(ns, samples);
    }
    void add_path(Pseudo pseudo, std::uint32_t process, std::int64_t ns)
    {
        add_path(Place{ContextId::none(), pseudo}, process, ns);
    }

    void add_location(const LocationTrace& location, model::ProcessTotals& totals)
    {
        const model::Calls& calls = location.calls;
        const std::uint64_t rows = analyzed(replay_, location);
        Ns time = location.begin;
        for (std::size_t i = 0; i < rows; ++i) {
            if (calls.is_point(i))
                continue;
            ++totals.calls;
            const Ns enter = std::clamp(calls.enter(i), time, std::max(time, location.end));
            const Ns leave = std::clamp(calls.leave(i), enter, std::max(enter, location.end));
            totals.mpi_ns += (leave - enter).count();
            result_.totals[calls.context(i).value].add((leave - enter).count());
            if (!definitions_.has_samples)
                add_user_regions(location, time, enter);
            time = leave;
        }
        if (!definitions_.has_samples)
            add_user_regions(location, time, location.end);
        for (const model::Sample& sample : location.samples) {
            ++totals.samples;
            totals.sampled_ns += sample.weight;
            if (sample.context.valid())
                result_.totals[sample.context.value].add(sample.weight, 1);
        }
        for (const model::OffProcessor& off : location.off)
            result_.pseudo_totals[off_place(off, surroundings(location, off.begin))].add((off.end - off.begin).count());
    }

    void add_user_regions(const LocationTrace& location, Ns begin, Ns end)
    {
        for_each_user_region(location, begin, end, [&](ContextId context, std::int64_t ns) {
            if (context.valid())
                result_.totals[context.value].add(ns);
            else
                result_.pseudo_totals[user_place(context)].add(ns);
        });
    }

    void divide(const Segment& segment, std::uint32_t process)
    {
        const LocationTrace& location = replay_.trace_of(model::LocationId{segment.location});
        const Ns begin = origin_ + Ns{segment.begin};
        const Ns end = origin_ + Ns{segment.end};
        if (!definitions_.has_samples) {
            for_each_user_region(location, begin, end, [&](ContextId context, std::int64_t ns) {
                add_path(user_place(context), process, ns);
            });
            return;
        }
        Coverage& coverage = result_.coverage[process];
        const std::int64_t off = location.off.empty() ? 0 : add_off(segment, process, surroundings(location, begin));
        coverage.time += segment.end - segment.begin - off;
        for_each_sample(location, begin, end, [&](const model::Sample& sample) {
            ++result_.path_samples;
            if (!sample.context.valid())
                return;
            coverage.sampled += sample.weight;
            add_path({sample.context}, process, sample.weight, 1);
            if (sample.offset != 0)
                result_.addresses[{definitions_.contexts[sample.context.value].region.value, sample.offset}].add(
                    sample.weight, 1);
        });
    }

    enum class Off : std::uint8_t { All, Preempted };

    /// Adds the time that the segment's thread had no processor, below `context`, and says how long that was.
    std::int64_t add_off(const Segment& segment, std::uint32_t process, ContextId context, Off which = Off::All)
    {
        const LocationTrace& location = replay_.trace_of(model::LocationId{segment.location});
        const Ns begin = origin_ + Ns{segment.begin};
        const Ns end = origin_ + Ns{segment.end};
        std::int64_t sum = 0;
        for (auto off = std::ranges::upper_bound(location.off, begin, {}, &model::OffProcessor::end);
             off != location.off.end() && off->begin < end; ++off) {
            if (which == Off::Preempted && !off->preempted)
                continue;
            const std::int64_t ns = (std::min(end, off->end) - std::max(begin, off->begin)).count();
            add_path(off_place(*off, context), process, ns);
            sum += ns;
        }
        return sum;
    }

    static Place off_place(const model::OffProcessor& off, ContextId context)
    {
        return {context, off.preempted ? Pseudo::Preempted : Pseudo::Blocked};
    }

    /// Where a thread is at a time: in a call, or else in the last function that has made both the call before and the
    /// call after; none() if that is not known.
    [[nodiscard]] ContextId surroundings(const LocationTrace& location, Ns time) const
    {
        const model::Calls& calls = location.calls;
        const auto& enters = calls.enters();
        auto next = static_cast<std::size_t>(std::ranges::upper_bound(enters, time) - enters.begin());
        std::size_t before = next;
        while (before > 0 && calls.is_point(before - 1))
            --before;
        if (before > 0 && calls.leave(before - 1) > time)
            return calls.context(before - 1);
        while (next < calls.size() && calls.is_point(next))
            ++next;
        if (before == 0 || next == calls.size())
            return ContextId::none();
        return tree_.common(tree_.parent(calls.context(before - 1)), tree_.parent(calls.context(next)));
    }

    const Replay& replay_;
    const model::Definitions& definitions_;
    ContextTree tree_;
    Ns origin_;
    Tally result_;
};

}  // namespace

std::vector<Place> Tally::places() const
{
    std::vector<Place> result;
    for (const auto& [key, amount] : path)
        result.push_back(key.first);
    for (std::uint32_t context = 0; context < totals.size(); ++context)
        if (totals[context].ns != 0 || totals[context].count != 0)
            result.push_back({model::ContextId{context}});
    for (const auto& [place, amount] : pseudo_totals)
        result.push_back(place);
    return result;
}

std::vector<model::ContextId> Tally::functions() const
{
    std::vector<model::ContextId> result;
    for (std::uint32_t context = 0; context < on_path.size(); ++context)
        if (on_path[context])
            result.push_back({context});
    return result;
}

Tally tally(const Replay& replay, const Predecessors& predecessors, const Path& path)
{
    Tallier tallier(replay, path.begin);
    for (const model::ProcessTrace& trace : replay.processes)
        tallier.add_process(trace);
    std::vector<PieceSum> pieces(path.pieces.size());
    std::vector<Choices> choices(several_clocks(replay.definitions) ? path.pieces.size() : 0);
    PathCutter cutter(replay, predecessors, path);
    for (std::size_t i = 0; i < choices.size(); ++i)
        if (const Piece& piece = path.pieces[i]; piece.jumps()) {
            const KnownJump jump = cutter.jump_of(piece);
            choices[i].from = jump.to.location.value;
            if (piece.stretch <= piece.begin)
                choices[i].add(jump.kind, jump.confidence, 0);  // it has no segment
        }
    while (const auto part = cutter.next()) {
        PieceSum& piece = pieces[part->piece];
        piece.segments += part->segments.size();
        for (const Segment& segment : part->segments) {
            piece.ns += segment.end - segment.begin;
            if (!choices.empty())
                choices[part->piece].add(segment);
            tallier.add_segment(segment);
        }
    }
    Tally result = tallier.take();
    result.pieces = std::move(pieces);
    result.choices = std::move(choices);
    return result;
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/tally.hpp"

#include "replayer/attribute/context_tree.hpp"
#include "replayer/attribute/team.hpp"

#include <algorithm>
#include <numeric>

namespace critpath::replayer
{

namespace
{

using model::ContextId;
using model::LocationTrace;
using model::Ns;
using model::Segment;
using model::SegmentKind;

__extension__ using Wide = __int128;

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

class Tallier
{
public:
    Tallier(const Replay& replay, Ns origin)
        : replay_(replay), definitions_(replay.definitions), tree_(definitions_.contexts), waits_(definitions_),
          origin_(origin)
    {
        result_.on_path.resize(definitions_.contexts.size());
        result_.totals.resize(definitions_.contexts.size());
        result_.totals_of_others.resize(definitions_.contexts.size());
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
        const model::ProcessId process = definitions_.locations[location.location.value].process;
        const bool is_first = definitions_.processes[process.value].locations.front() == location.location;
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
                add_user_regions(location, time, enter, is_first);
            time = leave;
        }
        if (!definitions_.has_samples)
            add_user_regions(location, time, location.end, is_first);
        for (const model::Sample& sample : location.samples) {
            ++totals.samples;
            totals.sampled_ns += sample.weight;
            if (sample.context.valid() && waits_.has(sample.context))
                result_.pseudo_totals[{waits_.waiter(sample.context), Pseudo::TeamWait}].add(sample.weight, 1);
            else if (sample.context.valid()) {
                result_.totals[sample.context.value].add(sample.weight, 1);
                result_.totals_of_others[sample.context.value] += is_first ? 0 : sample.weight;
            }
        }
        for (const model::OffProcessor& off : location.off)
            result_.pseudo_totals[off_place(off, surroundings(location, off.begin))].add((off.end - off.begin).count());
    }

    void add_user_regions(const LocationTrace& location, Ns begin, Ns end, bool is_first)
    {
        for_each_user_region(location, begin, end, [&](ContextId context, std::int64_t ns) {
            if (context.valid()) {
                result_.totals[context.value].add(ns);
                result_.totals_of_others[context.value] += is_first ? 0 : ns;
            } else
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
        const std::int64_t off =
            location.off.empty() ? 0 : add_off(segment, process, surroundings(location, begin), Off::AllButTeam);
        result_.coverage[process].time += segment.end - segment.begin - off;
        for_each_sample(location, begin, end, [&](const model::Sample& sample) {
            if (!sample.context.valid()) {
                ++result_.path_samples;
                ++result_.independent_samples;
                return;
            }
            if (!waits_.has(sample.context)) {
                add_sampled(sample, process, sample.weight);
                ++result_.independent_samples;
                return;
            }
            // Threads are not sampled at the same moments.
            const Ns around{sample.weight};
            const auto work = work_of_others(process_of(location), location.location, sample.time - around,
                                             sample.time + around, waits_);
            if (!work.empty()) {
                share_out(sample.weight, work, process);
                ++result_.independent_samples;
                return;
            }
            add_sampled(Place{waits_.waiter(sample.context), Pseudo::TeamWait}, process, sample.weight);
            ++result_.independent_samples;
        });
    }

    [[nodiscard]] const model::ProcessTrace& process_of(const LocationTrace& location) const
    {
        return replay_.processes[replay_.index_of(definitions_.locations[location.location.value].process)];
    }

    void add_sampled(Place place, std::uint32_t process, std::int64_t ns)
    {
        ++result_.path_samples;
        result_.coverage[process].sampled += ns;
        add_path(place, process, ns, 1);
    }

    void add_sampled(const model::Sample& sample, std::uint32_t process, std::int64_t ns)
    {
        add_sampled(Place{sample.context}, process, ns);
        if (sample.offset != 0)
            result_.addresses[{definitions_.contexts[sample.context.value].region.value, sample.offset}].add(ns, 1);
    }

    /// The path waits for these samples of other threads: its time is theirs, by their weight.
    void share_out(std::int64_t ns, const std::vector<const model::Sample*>& work, std::uint32_t process)
    {
        std::int64_t weight = weight_of(work);
        for (const model::Sample* sample : work) {
            const auto part = static_cast<std::int64_t>(Wide{ns} * sample->weight / weight);
            add_sampled(*sample, process, part);
            ns -= part;
            weight -= sample->weight;
        }
    }

    static std::int64_t weight_of(const std::vector<const model::Sample*>& samples)
    {
        return std::accumulate(samples.begin(), samples.end(), std::int64_t{0},
                               [](std::int64_t sum, const model::Sample* s) { return sum + s->weight; });
    }

    enum class Off : std::uint8_t {
        All,
        AllButTeam,  // who is blocked while other threads of the process compute waits for these
        Preempted
    };

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
            const Ns from = std::max(begin, off->begin), to = std::min(end, off->end);
            std::int64_t ns = (to - from).count();
            if (which == Off::AllButTeam && !off->preempted) {
                const auto work = work_of_others(process_of(location), location.location, from, to, waits_);
                const std::int64_t worked = std::min(ns, weight_of(work));
                share_out(worked, work, process);
                if (!work.empty())  // as many as one thread would have had
                    result_.independent_samples +=
                        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(worked) * work.size() /
                                                       static_cast<std::uint64_t>(weight_of(work)));
                ns -= worked;
                const std::int64_t preempted =
                    std::min(ns, preemption_of_others(process_of(location), location.location, from, to, waits_));
                add_path({context, Pseudo::Preempted}, process, preempted);
                ns -= preempted;
                sum += preempted;
            }
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
    TeamWaits waits_;
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

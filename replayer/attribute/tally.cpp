// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/tally.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using model::LocationTrace;
using model::Ns;
using model::RegionId;
using model::RowKind;
using model::Segment;
using model::SegmentKind;

/// Calls `visit(region, ns)` for each innermost user region in [begin, end); none() where there is none.
template <class Visit>
void for_each_user_region(const LocationTrace& location, Ns begin, Ns end, Visit visit)
{
    const auto& changes = location.user_regions;
    auto next = std::ranges::upper_bound(changes, begin, {}, &model::RegionChange::time);
    RegionId region = next == changes.begin() ? RegionId::none() : std::prev(next)->region;
    while (begin < end) {
        const Ns until = next == changes.end() ? end : std::min(end, next->time);
        if (until > begin)
            visit(region, (until - begin).count());
        begin = until;
        if (next != changes.end())
            region = (next++)->region;
    }
}

RowKey compute_row(RegionId region)
{
    return region.valid() ? row_key(RowKind::Region, region) : row_key(Pseudo::Compute);
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
    Tallier(const Replay& replay, Ns origin) : replay_(replay), definitions_(replay.definitions), origin_(origin)
    {
        result_.on_path.resize(definitions_.regions.size());
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
        const RegionId function = in_call ? RegionId{segment.function} : RegionId::none();
        if (segment.function < result_.on_path.size())
            result_.on_path[segment.function] = true;
        result_.kinds[{kind, function.value, process}].add(ns, 1);
        result_.processes[process].path_ns += ns;
        const auto confidence = static_cast<model::Confidence>(segment.low_confidence);
        const bool is_low = confidence == model::Confidence::Low || confidence == model::Confidence::WithinClocks;
        result_.low_confidence_ns += is_low ? ns : 0;
        switch (kind) {
        case SegmentKind::Compute:
            divide(segment, process);
            break;
        case SegmentKind::Transfer:
            add_path(row_key(Pseudo::Transfer), process, ns);
            break;
        case SegmentKind::Mpi:
        case SegmentKind::Collective:
        case SegmentKind::Delay:
            add_path(row_key(RowKind::Mpi, function), process, ns);
            break;
        case SegmentKind::StartDelay:
            add_path(row_key(Pseudo::StartDelay), process, ns);
            break;
        case SegmentKind::Tool:
            add_path(row_key(Pseudo::Measurement), process, ns);
            break;
        case SegmentKind::Unrecorded:
            add_path(row_key(Pseudo::NotRecorded), process, ns);
            break;
        case SegmentKind::Thread:
            add_path(row_key(Pseudo::Threads), process, ns);
            break;
        }
    }

    Tally take() { return std::move(result_); }

private:
    void add_path(RowKey row, std::uint32_t process, std::int64_t ns, std::uint64_t samples = 0)
    {
        result_.path[{row, process}].add(ns, samples);
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
            if (!definitions_.has_samples) {
                add_user_regions(location, time, enter);
                result_.totals[row_key(RowKind::Mpi, calls.region(i))].add((leave - enter).count());
            }
            time = leave;
        }
        if (!definitions_.has_samples)
            add_user_regions(location, time, location.end);
        for (const model::Sample& sample : location.samples) {
            ++totals.samples;
            totals.sampled_ns += sample.weight;
            if (sample.context.valid())
                result_.totals[sampled_row(sample)].add(sample.weight, 1);
        }
    }

    void add_user_regions(const LocationTrace& location, Ns begin, Ns end)
    {
        for_each_user_region(location, begin, end,
                             [&](RegionId region, std::int64_t ns) { result_.totals[compute_row(region)].add(ns); });
    }

    [[nodiscard]] RowKey sampled_row(const model::Sample& sample) const
    {
        return row_key(RowKind::Sampled, definitions_.contexts[sample.context.value].region);
    }

    void divide(const Segment& segment, std::uint32_t process)
    {
        const LocationTrace& location = replay_.trace_of(model::LocationId{segment.location});
        const Ns begin = origin_ + Ns{segment.begin};
        const Ns end = origin_ + Ns{segment.end};
        if (!definitions_.has_samples) {
            for_each_user_region(location, begin, end,
                                 [&](RegionId region, std::int64_t ns) { add_path(compute_row(region), process, ns); });
            return;
        }
        Coverage& coverage = result_.coverage[process];
        coverage.time += segment.end - segment.begin;
        for_each_sample(location, begin, end, [&](const model::Sample& sample) {
            ++result_.path_samples;
            if (!sample.context.valid())
                return;
            coverage.sampled += sample.weight;
            add_path(sampled_row(sample), process, sample.weight, 1);
        });
    }

    const Replay& replay_;
    const model::Definitions& definitions_;
    Ns origin_;
    Tally result_;
};

}  // namespace

std::vector<RowKey> Tally::rows() const
{
    std::vector<RowKey> result;
    for (const auto& [key, amount] : path)
        result.push_back(key.first);
    for (const auto& [key, amount] : totals)
        result.push_back(key);
    for (std::uint32_t region = 0; region < on_path.size(); ++region)
        if (on_path[region])
            result.push_back(row_key(RowKind::Mpi, {region}));
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

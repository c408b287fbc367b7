// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/code.hpp"

#include "replayer/attribute/sampled_code.hpp"
#include "replayer/peers/gaps.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using model::AttributionKind;
using model::Ns;

/// The stretches that moments of the owned processes lie in.
class StretchFinder
{
public:
    StretchFinder(const Replay& replay, const Stretches& stretches)
        : replay_(replay), places_(replay.definitions.contexts.size())
    {
        for (const Stretches::At& at : stretches.stretches)
            places_.add(at.place);
        for (const model::ProcessTrace& trace : replay.processes)
            gaps_.emplace_back(trace.locations.empty() ? nothing_ : trace.locations.front(), stretches.same);
    }

    [[nodiscard]] std::uint32_t stretch_of(std::size_t process, std::size_t gap) const
    {
        return places_.find(gaps_[process].place(gap));
    }

    /// Of the first thread of a process, by index into Replay::processes.
    [[nodiscard]] std::uint32_t at(std::size_t process, Ns time)
    {
        Gaps& gaps = gaps_[process];
        const std::size_t gap = gaps.first_behind(time);
        return gap < gaps.end() && gaps.begin_of(gap) <= time ? stretch_of(process, gap) : GapPlaces::none;
    }

    /// Only the first thread of a process has gaps.
    [[nodiscard]] std::uint32_t of(const PlacedAttribution& placed, Ns origin)
    {
        const model::Attribution& a = placed.attribution;
        const bool is_computation = a.kind == AttributionKind::Sample || a.kind == AttributionKind::Computation;
        if (!is_computation || replay_.definitions.processes[a.process].locations.front() != placed.location)
            return GapPlaces::none;
        return at(replay_.index_of(model::ProcessId{a.process}), origin + Ns{a.begin});
    }

    [[nodiscard]] const Gaps& gaps(std::size_t process) const { return gaps_[process]; }

private:
    const Replay& replay_;
    const model::LocationTrace nothing_;
    GapPlaces places_;
    std::vector<Gaps> gaps_;
};

/// Of the gaps at the place of a stretch.
struct Waits {
    std::int64_t spinning_ns = 0, spinning_on_path_ns = 0;
    std::int64_t gaps = 0;
};

bool any_waits(const model::Definitions& definitions, const SampledCode& code)
{
    for (std::uint32_t i = 0; i < definitions.contexts.size(); ++i)
        if (code.waits_for_team(model::ContextId{i}))
            return true;
    return false;
}

/// On the path and off it, of the owned processes.
void add_waits(const Replay& replay, const SampledCode& code, StretchFinder& finder, std::vector<Waits>& sums)
{
    for (std::size_t p = 0; p < replay.processes.size(); ++p) {
        for (std::size_t gap = 1; gap < finder.gaps(p).end(); ++gap)
            if (const std::uint32_t stretch = finder.stretch_of(p, gap); stretch != GapPlaces::none)
                ++sums[stretch].gaps;
        for (const model::Sample& sample : finder.gaps(p).location().samples)
            if (sample.context.valid() && code.waits_for_team(sample.context))
                if (const std::uint32_t stretch = finder.at(p, sample.time); stretch != GapPlaces::none)
                    sums[stretch].spinning_ns += sample.weight;
    }
}

}  // namespace

std::vector<std::int64_t> add_code(const Replay& replay, const Stretches& stretches, Ns origin, Tally& tally)
{
    std::vector<std::int64_t> peers(stretches.stretches.size());
    if (peers.empty())
        return peers;
    StretchFinder finder(replay, stretches);
    std::vector<Waits> sums(peers.size());
    for (const PlacedAttribution& placed : tally.attributions) {
        const std::uint32_t stretch = finder.of(placed, origin);
        if (stretch == GapPlaces::none)
            continue;
        const model::Attribution& a = placed.attribution;
        const std::int64_t spinning = placed.thread == PathThread::Spins ? a.ns : 0;
        const std::int64_t blocked = placed.thread == PathThread::Blocked ? a.ns : 0;
        tally.stretch_code[{stretch, placed.place}].add({a.ns, a.independent, spinning, blocked});
        sums[stretch].spinning_on_path_ns += spinning;
    }
    const SampledCode code(replay.definitions);
    if (!any_waits(replay.definitions, code))
        return peers;
    add_waits(replay, code, finder, sums);
    constexpr std::size_t numbers = sizeof(Waits) / sizeof(std::int64_t);
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size() * numbers), MPI_INT64_T, MPI_SUM,
                  replay.comm);
    for (std::size_t i = 0; i < peers.size(); ++i) {
        const std::int64_t on_path = stretches.stretches[i].sums.gaps;
        const std::int64_t others = sums[i].gaps - on_path;
        const auto off_path = static_cast<double>(sums[i].spinning_ns - sums[i].spinning_on_path_ns);
        if (others > 0 && off_path > 0)
            peers[i] = rounded(off_path * static_cast<double>(on_path) / static_cast<double>(others));
    }
    return peers;
}

}  // namespace critpath::replayer

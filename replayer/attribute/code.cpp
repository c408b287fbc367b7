// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/code.hpp"

#include "replayer/attribute/sample_weights.hpp"
#include "replayer/attribute/sampled_code.hpp"
#include "replayer/attribute/team.hpp"
#include "replayer/exchange.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace critpath::replayer
{

namespace
{

using model::AttributionKind;
using model::Ns;

/// Of the gaps at the place of a stretch.
struct Waits {
    std::int64_t spinning_ns = 0, spinning_on_path_ns = 0;
    std::int64_t preempted_ns = 0;  // off the path: blocked for threads that lack a processor
    std::int64_t gaps = 0;
};

/// Gaps on the path in which threads are waited for, of the first thread of each owned process.
using GapsThatWait = std::vector<std::set<std::size_t>>;

bool may_spin(const model::Definitions& definitions, const SampledCode& code)
{
    for (std::uint32_t i = 0; i < definitions.contexts.size(); ++i)
        if (code.waits_for_team(model::ContextId{i}))
            return true;
    return false;
}

/// On the path and off it, of the owned processes.
void add_spinning(const Replay& replay, const SampledCode& code, const SampleWeights& weights, StretchFinder& finder,
                  std::vector<Waits>& sums)
{
    for (std::size_t p = 0; p < replay.processes.size(); ++p)
        for (const model::Sample& sample : finder.gaps(p).location().samples)
            if (sample.context.valid() && code.waits_for_team(sample.context))
                if (const std::uint32_t stretch = finder.at(p, sample.time); stretch != GapPlaces::none)
                    sums[stretch].spinning_ns += weights.of_all(finder.gaps(p).location(), sample);
}

void count_gaps(const StretchFinder& finder, std::vector<Waits>& sums)
{
    for (std::size_t p = 0; p < finder.processes(); ++p)
        for (std::size_t gap = 0; gap < finder.gaps(p).end(); ++gap)
            if (const std::uint32_t stretch = finder.stretch_of(p, gap); stretch != GapPlaces::none)
                ++sums[stretch].gaps;
}

/// Off the path, of the owned processes: as PathDivider has it on the path.
void add_preemption(const Replay& replay, const SampledCode& code, const GapsThatWait& on_path, StretchFinder& finder,
                    std::vector<Waits>& sums)
{
    for (std::size_t p = 0; p < replay.processes.size(); ++p) {
        const model::ProcessTrace& trace = replay.processes[p];
        if (trace.locations.size() < 2)
            continue;
        const model::LocationTrace& first = trace.locations.front();
        for (const model::OffProcessor& off : first.off) {
            const auto gap = off.preempted ? std::nullopt : finder.gap_at(p, off.begin);
            const std::uint32_t stretch = gap ? finder.stretch_of(p, *gap) : GapPlaces::none;
            if (stretch == GapPlaces::none || on_path[p].contains(*gap))
                continue;
            const Waiter waiter =
                waiter_of(trace, first.location, off, off.begin, std::min(off.end, finder.gaps(p).end_of(*gap)), code);
            const std::int64_t preempted = time_of(preemption_of_others(waiter, code));
            if (preempted > 0)
                sums[stretch].preempted_ns += std::min(preempted, idle_for(waiter, code));
        }
    }
}

}  // namespace

std::vector<ThreadsOfPeers> add_code(const Replay& replay, const Stretches& stretches, StretchFinder& finder, Ns origin,
                                     const SampleWeights& weights, Tally& tally)
{
    std::vector<ThreadsOfPeers> peers(stretches.stretches.size());
    if (peers.empty())
        return peers;
    std::vector<Waits> sums(peers.size());
    GapsThatWait waiting(replay.processes.size());
    bool any_preempted = false;
    const std::vector<model::CallingContext>& contexts = replay.definitions.contexts;
    tally.attributions.for_each([&](const PlacedAttribution& placed) {
        const std::uint32_t stretch = finder.of(placed, origin);
        if (stretch == GapPlaces::none)
            return;
        const model::Attribution& a = placed.attribution;
        const std::int64_t spinning = placed.thread == PathThread::Spins ? a.ns : 0;
        const std::int64_t blocked = placed.thread == PathThread::Blocked ? a.ns : 0;
        // Of what others did while the thread itself lacked a processor, its peers know nothing; where it was itself
        // then is not known here.
        const bool lacks = placed.thread == PathThread::Preempted;
        const Place place = lacks ? Place{model::ContextId::none(), Pseudo::Preempted} : placed.place;
        tally.stretch_code[{stretch, place}].add({a.ns, lacks ? 0 : a.independent, spinning, blocked});
        if (placed.thread == PathThread::Works && place.pseudo == Pseudo::None && a.address != 0)
            tally.stretch_addresses[{stretch, contexts[place.context.value].region.value, a.address}].add(
                {a.ns, a.independent});
        sums[stretch].spinning_on_path_ns += spinning;
        if (blocked > 0) {
            const std::size_t process = replay.index_of(finder.process_of(placed));
            waiting[process].insert(*finder.gap_at(process, origin + Ns{a.begin}));
            any_preempted = any_preempted || placed.place.pseudo == Pseudo::Preempted;
        }
    });
    const SampledCode code(replay.definitions);
    const bool any_spinning = may_spin(replay.definitions, code);
    any_preempted = on_any(replay.comm, any_preempted);
    if (any_spinning)
        add_spinning(replay, code, weights, finder, sums);
    if (any_preempted)
        add_preemption(replay, SampledCode(replay.definitions, replay.processes), waiting, finder, sums);
    if (!any_spinning && !any_preempted)
        return peers;
    count_gaps(finder, sums);
    constexpr std::size_t numbers = sizeof(Waits) / sizeof(std::int64_t);
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size() * numbers), MPI_INT64_T, MPI_SUM,
                  replay.comm);
    for (std::size_t i = 0; i < peers.size(); ++i) {
        const std::int64_t on_path = stretches.stretches[i].sums.gaps;
        const std::int64_t others = sums[i].gaps - on_path;
        peers[i] = {of_others(sums[i].spinning_ns - sums[i].spinning_on_path_ns, on_path, others),
                    of_others(sums[i].preempted_ns, on_path, others)};
    }
    return peers;
}

}  // namespace critpath::replayer

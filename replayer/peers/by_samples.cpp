// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/chosen.hpp"
#include "replayer/peers/pace.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace critpath::replayer
{

namespace
{

constexpr double deviations = 1.96;  // 95 % are within so many

/// Sums over the processes that come to a place; exact, so that their order does not matter.
struct PaceSums {
    std::int64_t processes = 0;
    std::int64_t enough = 0;  // processes that have enough samples there; of these:
    Pace paces;

    void add(const Pace& pace)
    {
        ++processes;
        if (pace.samples < model::enough_samples)
            return;
        ++enough;
        for (const auto ratio : {&Pace::frequency, &Pace::cycles, &Pace::instruction_time}) {
            (paces.*ratio).log += (pace.*ratio).log;
            (paces.*ratio).variance += (pace.*ratio).variance;
        }
        for (const auto kind : {&Pace::cache_misses, &Pace::branch_misses}) {
            (paces.*kind).known += (pace.*kind).known;
            (paces.*kind).by_instruction.log += (pace.*kind).by_instruction.log;
            (paces.*kind).by_instruction.variance += (pace.*kind).by_instruction.variance;
        }
    }
};

/// A part of what gaps take longer, and its error, ns.
struct SampledPart {
    std::int64_t ns;
    std::int64_t error;
};

/// A ratio of one process beside the geometric mean of the others: logarithms, and the error of their difference.
struct BesideOthers {
    double own, others, error;
};

BesideOthers beside_others(const Ratio& own, const Ratio& all, std::int64_t processes)
{
    const auto others = static_cast<double>(processes - 1);
    const double variance =
        static_cast<double>(own.variance) + static_cast<double>(all.variance - own.variance) / (others * others);
    return {static_cast<double>(own.log) / fixed_one, static_cast<double>(all.log - own.log) / others / fixed_one,
            deviations * std::sqrt(variance / fixed_one)};
}

/// What a factor makes of the gaps of a process, that is by how much its ratio is above the mean of the others.
SampledPart part_of(const Uncounted& gaps, const Ratio& own, const Ratio& all, std::int64_t processes)
{
    const BesideOthers logs = beside_others(own, all, processes);
    const auto ns = static_cast<double>(gaps.per_log_ns);
    return {rounded(ns * (logs.own - logs.others)), rounded(ns * logs.error)};
}

/// Moves what can be told from `processor_ns`.
void tell(const Uncounted& gaps, const Pace& own, const PaceSums& all, const PaceEvents& events,
          model::Difference& sums)
{
    const auto part = [&](Ratio Pace::*ratio) { return part_of(gaps, own.*ratio, all.paces.*ratio, all.processes); };
    sums.processor_ns -= gaps.processor_ns;
    const SampledPart instruction_time = part(&Pace::instruction_time);
    const SampledPart frequency = part(&Pace::frequency);
    if (events.instructions) {
        sums.instructions_ns += gaps.processor_ns - instruction_time.ns;
        sums.instructions_error_ns += instruction_time.error;
    }
    if (events.instructions && events.cycles) {
        // What rounding leaves belongs to the frequency.
        const SampledPart cycles = part(&Pace::cycles);
        sums.cycles_ns += cycles.ns;
        sums.cycles_error_ns += cycles.error;
        sums.frequency_ns += instruction_time.ns - cycles.ns;
        sums.frequency_error_ns += frequency.error;
    } else if (events.instructions) {
        sums.instruction_time_ns += instruction_time.ns;
        sums.instruction_time_error_ns += instruction_time.error;
    } else {
        sums.frequency_ns -= frequency.ns;
        sums.frequency_error_ns += frequency.error;
        sums.all_cycles_ns += gaps.processor_ns + frequency.ns;
        sums.all_cycles_error_ns += frequency.error;
    }
}

/// Where the numbers of one kind of miss stand. Until rates_of_sums(), the last three are sums over the processes on
/// the path of their time there, ns, times a logarithm, and times its error: exact, so that their order does not
/// matter.
struct MissNumbers {
    Misses Pace::*found;
    std::int64_t model::Stretch::*ns;
    std::int64_t model::Stretch::*own;
    std::int64_t model::Stretch::*peers;
    std::int64_t model::Stretch::*error;
};
constexpr MissNumbers kinds_of_misses[] = {
    {&Pace::cache_misses, &model::Stretch::cache_misses_ns, &model::Stretch::cache_misses,
     &model::Stretch::peers_cache_misses, &model::Stretch::cache_misses_error},
    {&Pace::branch_misses, &model::Stretch::branch_misses_ns, &model::Stretch::branch_misses,
     &model::Stretch::peers_branch_misses, &model::Stretch::branch_misses_error}};

/// Of a process that has `path_ns` on the path.
void tell_misses(std::int64_t path_ns, const Pace& own, const PaceSums& all, model::Stretch& sums)
{
    for (const MissNumbers& kind : kinds_of_misses) {
        if ((all.paces.*kind.found).known < all.processes)
            continue;
        const BesideOthers logs =
            beside_others((own.*kind.found).by_instruction, (all.paces.*kind.found).by_instruction, all.processes);
        const auto ns = static_cast<double>(path_ns);
        sums.*kind.ns += path_ns;
        sums.*kind.own += rounded(ns * logs.own);
        sums.*kind.peers += rounded(ns * logs.others);
        sums.*kind.error += rounded(ns * logs.error);
    }
}

/// Of the gaps that the entries of a list are, of the process `p`.
Pace pace_at(const Chosen& chosen, std::size_t place, Gaps& of_process, std::size_t p, const PaceEvents& events)
{
    const std::vector<std::uint32_t>& entries = chosen.gaps(place)[p];
    if (chosen.spans == nullptr)
        return pace(of_process, entries, events);
    std::vector<std::uint32_t> gaps;
    for (std::size_t i = 0; i < entries.size(); ++i)
        for (std::size_t gap = entries[i], end = chosen.end(place, p, i); gap < end; ++gap)
            gaps.push_back(static_cast<std::uint32_t>(gap));
    return pace(of_process, gaps, events);
}

}  // namespace

void rates_of_sums(model::Stretch& sums)
{
    constexpr double unit = 1e9;
    for (const MissNumbers& kind : kinds_of_misses) {
        if (sums.*kind.ns == 0)
            continue;
        const auto mean = [&](std::int64_t sum) {
            return static_cast<double>(sum) / static_cast<double>(sums.*kind.ns);
        };
        sums.*kind.own = rounded(unit * std::exp(mean(sums.*kind.own)));
        sums.*kind.peers = rounded(unit * std::exp(mean(sums.*kind.peers)));
        sums.*kind.error = rounded(unit * mean(sums.*kind.error));
    }
}

std::vector<FewestSamples> tell_by_samples(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                                           const std::vector<std::vector<Uncounted>>& uncounted,
                                           std::vector<model::Stretch>& sums, NotableRanks& notable)
{
    const std::size_t places = chosen.places();
    std::vector<FewestSamples> fewest(places);
    const PaceEvents events = pace_events(replay.definitions);
    if (!events.any())
        return fewest;
    std::vector<std::vector<Pace>> paces(places, std::vector<Pace>(gaps.size()));
    std::vector<PaceSums> all(places);
    std::vector<std::int64_t> least(places, INT64_MAX);  // of all processes: samples, and behind them the rank
    constexpr std::int64_t ranks = std::int64_t{1} << 32;
    for (std::size_t place = 0; place < places; ++place)
        for (std::size_t p = 0; p < gaps.size(); ++p) {
            if (chosen.gaps(place)[p].empty())
                continue;
            const Pace& own = paces[place][p] = pace_at(chosen, place, gaps[p], p, events);
            all[place].add(own);
            least[place] = std::min(least[place], own.samples * ranks + replay.processes[p].process.value);
        }
    constexpr int numbers = sizeof(PaceSums) / sizeof(std::int64_t);
    const auto count = static_cast<int>(places);
    MPI_Allreduce(MPI_IN_PLACE, all.data(), count * numbers, MPI_INT64_T, MPI_SUM, replay.comm);
    MPI_Allreduce(MPI_IN_PLACE, least.data(), count, MPI_INT64_T, MPI_MIN, replay.comm);
    for (std::size_t place = 0; place < places; ++place) {
        fewest[place] = {least[place] / ranks, least[place] % ranks};
        if (all[place].enough < all[place].processes || all[place].processes < 2)
            continue;
        for (std::size_t p = 0; p < gaps.size(); ++p) {
            const Uncounted& own = uncounted[place][p];
            const auto rank = notable.find(static_cast<std::uint32_t>(place), replay.processes[p].process);
            sums[place].sampled += own.gaps;
            if (own.gaps > 0)
                tell(own, paces[place][p], all[place], events, sums[place]);
            if (own.gaps > 0 && rank != nullptr)
                tell(own, paces[place][p], all[place], events, *rank);
            if (chosen.totals[place][p].ns > 0)
                tell_misses(chosen.totals[place][p].ns, paces[place][p], all[place], sums[place]);
        }
    }
    return fewest;
}

}  // namespace critpath::replayer

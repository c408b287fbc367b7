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
    }
};

/// A part of what gaps take longer, and its error, ns.
struct SampledPart {
    std::int64_t ns;
    std::int64_t error;
};

/// What a factor makes of the gaps of a process, that is by how much its ratio is above the mean of the others.
SampledPart part_of(const Uncounted& gaps, const Ratio& own, const Ratio& all, std::int64_t processes)
{
    const auto others = static_cast<double>(processes - 1);
    const double above = static_cast<double>(own.log) - static_cast<double>(all.log - own.log) / others;
    const double variance =
        static_cast<double>(own.variance) + static_cast<double>(all.variance - own.variance) / (others * others);
    const auto ns = static_cast<double>(gaps.per_log_ns);
    return {rounded(ns * above / fixed_one), rounded(deviations * ns * std::sqrt(variance / fixed_one))};
}

/// Moves what can be told from `processor_ns`.
void tell(const Uncounted& gaps, const Pace& own, const PaceSums& all, const PaceEvents& events, model::Stretch& sums)
{
    const auto part = [&](Ratio Pace::*ratio) { return part_of(gaps, own.*ratio, all.paces.*ratio, all.processes); };
    sums.sampled += gaps.gaps;
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

}  // namespace

std::vector<FewestSamples> tell_by_samples(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                                           const std::vector<std::vector<Uncounted>>& uncounted,
                                           std::vector<model::Stretch>& sums)
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
            const Pace& own = paces[place][p] = pace(gaps[p], chosen.gaps(place)[p], events);
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
        for (std::size_t p = 0; p < gaps.size(); ++p)
            if (uncounted[place][p].gaps > 0)
                tell(uncounted[place][p], paces[place][p], all[place], events, sums[place]);
    }
    return fewest;
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/sampling_cost.hpp"

#include "analysis/report/hotspots.hpp"
#include "analysis/report/numbers.hpp"

#include <fmt/format.h>

#include <cmath>

namespace critpath::report
{

bool SamplingCost::is_drawn_to_samples() const
{
    constexpr double deviations = 4, at_least = 1.2;
    return times() >= at_least && samples - expected > deviations * std::sqrt(expected);
}

std::optional<SamplingCost> sampling_cost(const model::Profile& profile)
{
    const Hotspots of_run = sums(profile);
    SamplingCost cost;
    cost.path_ns = static_cast<double>(of_run.path_ns);
    // Of those of a team at one time, one took the time of the path.
    cost.samples = static_cast<double>(of_run.independent_samples);
    double all_ns = 0, all_samples = 0;
    for (const model::ProcessTotals& process : profile.processes) {
        all_ns += static_cast<double>(process.sampled_ns);
        all_samples += static_cast<double>(process.samples);
    }
    if (!of_run.is_sampled || cost.samples == 0 || of_run.domain_ns <= 0 || all_ns <= 0 || all_samples == 0)
        return std::nullopt;
    cost.expected = static_cast<double>(of_run.domain_ns) * all_samples / all_ns;
    return cost;
}

std::vector<Field> sampling_cost_fields(const model::Profile& profile)
{
    const std::optional<SamplingCost> cost = sampling_cost(profile);
    return {{"path_samples_by_expected", "", cost ? Cell(Ratio{cost->times()}) : Cell()},
            {"sampling_cost_percent_low", "", cost ? Cell(Share{cost->least()}) : Cell()},
            {"sampling_cost_percent_high", "", cost ? Cell(Share{cost->most()}) : Cell()}};
}

std::optional<std::string> sampling_cost_note(const model::Profile& profile)
{
    constexpr double much = 0.02, us = 1000;
    const std::optional<SamplingCost> cost = sampling_cost(profile);
    if (!cost || cost->most() < much)
        return std::nullopt;
    return fmt::format(
        "Samples themselves may be {} to {} % of the path, of which {} have taken {:.0f} to {:.0f} µs each{}. To see "
        "it without, record once more with cpcollect --no-samples.",
        percent_text(cost->least()), percent_text(cost->most()), count_text(static_cast<std::uint64_t>(cost->samples)),
        SamplingCost::least_ns / us, SamplingCost::most_ns / us,
        cost->is_drawn_to_samples()
            ? fmt::format(": {:.1f} times as many as its time would have, because who was just interrupted by one is "
                          "late, and the path goes there",
                          cost->times())
            : "");
}

}  // namespace critpath::report

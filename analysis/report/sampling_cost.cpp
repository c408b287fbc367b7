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
    SamplingCost cost;
    cost.path_ns = static_cast<double>(fact(profile, "path_ns"));
    double sampled_ns = 0, all_ns = 0, all_samples = 0;
    for (const model::CallPathTime& time : profile.path)
        if (profile.is_sampled(time)) {
            cost.samples += static_cast<double>(time.samples);
            sampled_ns += static_cast<double>(time.ns);
        }
    for (const model::ProcessTotals& process : profile.processes) {
        all_ns += static_cast<double>(process.sampled_ns);
        all_samples += static_cast<double>(process.samples);
    }
    if (!has_samples(profile) || cost.samples == 0 || cost.path_ns <= 0 || all_ns <= 0)
        return std::nullopt;
    cost.expected = sampled_ns * all_samples / all_ns;
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
        "it with "
        "next to none, record with cpcollect -F 11.",
        percent_text(cost->least()), percent_text(cost->most()), count_text(static_cast<std::uint64_t>(cost->samples)),
        SamplingCost::least_ns / us, SamplingCost::most_ns / us,
        cost->is_drawn_to_samples()
            ? fmt::format(": {:.1f} times as many as its time would have, because who was just interrupted by one is "
                          "late, and the path goes there",
                          cost->times())
            : "");
}

}  // namespace critpath::report

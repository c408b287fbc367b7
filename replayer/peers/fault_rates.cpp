// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/fault_rates.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace critpath::replayer
{

void FaultRates::add(std::uint32_t faults, std::span<const Part> parts)
{
    ++samples_;
    for (const Part& part : parts) {
        if (part.what >= ns_.size())
            ns_.resize(part.what + std::size_t{1});
        ns_[part.what] += static_cast<double>(part.ns);
    }
    if (faults == 0)
        return;
    const auto first = static_cast<std::ptrdiff_t>(parts_.size());
    for (const Part& part : parts) {
        const auto same = std::find_if(parts_.begin() + first, parts_.end(),
                                       [&](const Part& other) { return other.what == part.what; });
        if (same == parts_.end())
            parts_.push_back(part);
        else
            same->ns += part.ns;
    }
    intervals_.push_back({static_cast<std::size_t>(first), parts_.size(), static_cast<double>(faults)});
}

void FaultRates::estimate()
{
    // Each round is nearer, and where rates are hard to tell from each other it takes thousands. What they take in all
    // must follow the samples, as all else does.
    constexpr std::size_t steps_per_sample = 1000, least_steps = 300'000;
    constexpr double near_enough = 1e-6;  // of all faults
    const std::size_t rounds =
        std::max(steps_per_sample * samples_, least_steps) / std::max<std::size_t>(parts_.size(), 1) + 1;

    const auto add_faults = [](double sum, const Interval& interval) { return sum + interval.faults; };
    const double all = std::accumulate(intervals_.begin(), intervals_.end(), 0.0, add_faults);
    const double ns = std::accumulate(ns_.begin(), ns_.end(), 0.0);
    rates_.assign(ns_.size(), ns > 0 ? all / ns : 0);
    std::vector<double> faults(rates_.size());
    for (std::size_t round = 0; round < rounds; ++round) {
        std::fill(faults.begin(), faults.end(), 0.0);
        for (const Interval& interval : intervals_) {
            const std::span<const Part> parts(&parts_[interval.first], interval.end - interval.first);
            const auto expected = [&](const Part& part) { return rates_[part.what] * static_cast<double>(part.ns); };
            const double sum = std::accumulate(parts.begin(), parts.end(), 0.0, [&](double before, const Part& part) {
                return before + expected(part);
            });
            for (const Part& part : parts)
                faults[part.what] += sum > 0 ? interval.faults * expected(part) / sum : 0;
        }
        double change = 0;
        for (std::size_t what = 0; what < rates_.size(); ++what) {
            const double rate = ns_[what] > 0 ? faults[what] / ns_[what] : 0;
            change += std::abs(rate - rates_[what]) * ns_[what];
            rates_[what] = rate;
        }
        if (change <= near_enough * all)
            break;
    }
}

}  // namespace critpath::replayer

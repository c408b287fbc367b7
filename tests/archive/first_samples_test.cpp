// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/first_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace critpath::archive
{
namespace
{

using testing::ElementsAre;

constexpr std::uint64_t period = 1000;

std::vector<std::uint64_t> periods(const std::vector<std::uint64_t>& counts)
{
    FirstSamples samples(period);
    for (const std::uint64_t count : counts)
        samples.add(count);
    return samples.periods();
}

TEST(FirstSamples, TheFirstPeriodIsThatOfTheSamplesInIt)
{
    EXPECT_THAT(periods({}), ElementsAre());
    EXPECT_THAT(periods({17}), ElementsAre(1000));
    EXPECT_THAT(periods({300, 600, 900}), ElementsAre(333, 333, 334));
    EXPECT_THAT(periods({300, 600, 900, 1200, 2200}), ElementsAre(333, 333, 334, 300, 1000));
    EXPECT_THAT(periods({700, 1400, 2400}), ElementsAre(1000, 700, 1000));
    EXPECT_THAT(periods({1003, 2003}), ElementsAre(1000, 1000)) << "a little late";
    EXPECT_THAT(periods({500, 9500}), ElementsAre(1000, 2000)) << "samples were lost";
}

/// A thread that takes `length`, and gets its own period behind `young` samples of `first`.
std::uint64_t sampled(std::uint64_t length, std::uint64_t first, int young)
{
    std::vector<std::uint64_t> counts;
    for (std::uint64_t at = first; at <= length; at += static_cast<int>(counts.size()) < young ? first : period)
        counts.push_back(at);
    const std::vector<std::uint64_t> found = periods(counts);
    return std::accumulate(found.begin(), found.end(), std::uint64_t{0});
}

/// Over all first periods, what samples stand for is in the mean what the thread takes, however short it is.
TEST(FirstSamples, StandForWhatThreadsTake)
{
    for (const int young : {1, 3, 16, 1000})
        for (const std::uint64_t length : {1U, 10U, 100U, 500U, 999U, 1000U, 1500U, 2000U, 3300U, 20'000U}) {
            std::uint64_t sum = 0;
            for (std::uint64_t first = 1; first <= period; ++first)
                sum += sampled(length, first, young);
            const double mean = static_cast<double>(sum) / period;
            // Only where the samples of the first period go on for long, less than a third of a period is missing.
            const double error = length <= period ? 0.0005 : young == 1 ? 0.002 : 0.33;
            EXPECT_NEAR(mean, static_cast<double>(length), error * period) << length << " ns, " << young << " samples";
        }
}

}  // namespace
}  // namespace critpath::archive

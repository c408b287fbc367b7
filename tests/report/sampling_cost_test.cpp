// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How it is said what the samples themselves may have added to the path.
#include "analysis/report/sampling_cost.hpp"
#include "tests/report/one_rank.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::report
{
namespace
{

using model::CallPathId;
using tests::ms;

/// 800 ms of the path are sampled, with so many samples; of all ranks there are 4,000 samples, one in 1 ms.
model::Profile run_with(std::uint64_t path_samples)
{
    OneRank run;
    run.add("work", CallPathId::none(), 800 * ms);
    run.add("MPI_Send", CallPathId::none(), 200 * ms, model::RowKind::Mpi);
    run.profile().path.front().samples = path_samples;
    run.profile().processes.front().samples = 4000;
    run.profile().processes.front().sampled_ns = 4000 * ms;
    run.profile().facts["path_ns"] = 1000 * ms;
    return run.profile();
}

TEST(SamplingCost, IsThatOfTheSamplesOnThePath)
{
    const auto cost = sampling_cost(run_with(1600));
    ASSERT_TRUE(cost);
    EXPECT_DOUBLE_EQ(cost->expected, 800);
    EXPECT_DOUBLE_EQ(cost->times(), 2);
    EXPECT_DOUBLE_EQ(cost->least(), 1600 * 5e-6);  // of a second
    EXPECT_DOUBLE_EQ(cost->most(), 1600 * 50e-6);
    EXPECT_EQ(
        sampling_cost_note(run_with(1600)),
        "Samples themselves may be 0.8 to 8.0 % of the path, of which 1,600 have taken 5 to 50 µs each: 2.0 times "
        "as many as its time would have, because who was just interrupted by one is late, and the path goes "
        "there. To see it without, record once more with cpcollect --no-samples.");
}

TEST(SamplingCost, IsNotSaidToBeMoreThanElsewhereIfThatMayBeChance)
{
    EXPECT_FALSE(sampling_cost(run_with(913))->is_drawn_to_samples());  // four standard deviations of 800
    EXPECT_FALSE(sampling_cost(run_with(959))->is_drawn_to_samples());  // not a fifth more
    EXPECT_TRUE(sampling_cost(run_with(961))->is_drawn_to_samples());
    EXPECT_EQ(sampling_cost_note(run_with(800)),
              "Samples themselves may be 0.4 to 4.0 % of the path, of which 800 have taken 5 to 50 µs each. To see it "
              "without, record once more with cpcollect --no-samples.");
}

/// 1,600 samples of eight threads each time; the path had the time of one.
TEST(SamplingCost, SamplesOfATeamAtOneTimeAreOne)
{
    model::Profile team = run_with(1600);
    team.facts["independent_samples"] = 200;
    EXPECT_DOUBLE_EQ(sampling_cost(team)->times(), 0.25);
    EXPECT_EQ(sampling_cost_note(team), std::nullopt);
}

TEST(SamplingCost, NothingIsSaidOfLittle)
{
    EXPECT_EQ(sampling_cost_note(run_with(399)), std::nullopt);  // 1.995 %
    EXPECT_FALSE(sampling_cost(run_with(0)));
    model::Profile without = run_with(800);
    without.properties.clear();
    EXPECT_FALSE(sampling_cost(without));
    EXPECT_FALSE(sampling_cost({}));
}

}  // namespace
}  // namespace critpath::report

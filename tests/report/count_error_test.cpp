// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How sure the share of a count is.
#include "analysis/report/count_error.hpp"
#include "analysis/report/statistics.hpp"

#include <gtest/gtest.h>

namespace critpath::report
{
namespace
{

using model::EventAmount;

/// Of samples that have counted `each`.
EventAmount counted_by(std::int64_t count, std::int64_t each)
{
    return {count, 0, 0, 0, static_cast<double>(count) * static_cast<double>(each)};
}

TEST(CountError, IsThatOfAsManySamplesAsHaveCounted)
{
    const EventAmount path = counted_by(1000, 10);  // 100 samples
    EXPECT_NEAR(samples_behind({}, path), 100, 1e-9);
    EXPECT_NEAR(samples_behind(counted_by(50, 10), path), 100, 1e-9);
    const Estimate share = count_share(counted_by(50, 10), path);
    const Interval interval = score_interval(0.05, 100);
    EXPECT_FALSE(share.exact);
    EXPECT_DOUBLE_EQ(share.value, 0.05);
    EXPECT_NEAR(share.low, interval.low, 1e-12);
    EXPECT_NEAR(share.high, interval.high, 1e-12);
}

TEST(CountError, OfWhatOneSampleHasBroughtIsLarge)
{
    EventAmount path = counted_by(500, 5);  // 100 samples, and one
    const EventAmount burst = counted_by(500, 500);
    path.add(burst);
    EXPECT_LT(samples_behind(burst, path), 4);
    EXPECT_LT(count_share(burst, path).low, 0.15);
    EXPECT_TRUE(could_be_none(burst, path));
}

TEST(CountError, WhatCouldBeNone)
{
    const EventAmount path = counted_by(1000, 10);
    EXPECT_TRUE(could_be_none(counted_by(30, 10), path));   // 0.97^100 is 0.048
    EXPECT_FALSE(could_be_none(counted_by(40, 10), path));  // 0.96^100 is 0.017
    EXPECT_FALSE(could_be_none({}, path));
    EXPECT_FALSE(could_be_none({}, {}));
    EXPECT_EQ(samples_behind({}, {}), 0);
}

}  // namespace
}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/band.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace critpath::replayer::clocks
{
namespace
{

using testing::ElementsAre;
using Side = Hull::Side;

constexpr double steepest = 1e-4;

Hull hull(Side side, const std::vector<Bound>& bounds)
{
    Hull result(side);
    for (const Bound& bound : bounds)
        result.add(bound);
    return result;
}

TEST(Hull, KeepsWhatALineCanMeet)
{
    const std::vector<Bound> bounds{{0, 10}, {1, 12}, {2, 4}, {3, 9}, {4, 6}, {4, 5}, {2, 4}};
    EXPECT_THAT(hull(Side::Upper, bounds).bounds(), ElementsAre(Bound{0, 10}, Bound{2, 4}, Bound{4, 5}));
    EXPECT_THAT(hull(Side::Lower, bounds).bounds(), ElementsAre(Bound{0, 10}, Bound{1, 12}, Bound{3, 9}, Bound{4, 6}));
}

TEST(Hull, DoesNotDependOnOrderOrParts)
{
    std::mt19937_64 random(3);
    std::vector<Bound> bounds(5000);
    for (Bound& bound : bounds)
        bound = {static_cast<std::int64_t>(random() % 60'000'000'000), static_cast<std::int64_t>(random() % 1'000'000)};
    const std::vector<Bound> expected = hull(Side::Lower, bounds).bounds();
    EXPECT_LT(expected.size(), 100);
    std::ranges::shuffle(bounds, random);
    Hull whole(Side::Lower);
    for (std::size_t begin = 0; begin < bounds.size(); begin += 1000) {
        Hull part = hull(Side::Lower, {bounds.begin() + static_cast<std::ptrdiff_t>(begin),
                                       bounds.begin() + static_cast<std::ptrdiff_t>(begin + 1000)});
        for (const Bound& bound : part.bounds())
            whole.add(bound);
    }
    EXPECT_EQ(whole.bounds(), expected);
}

TEST(Fit, NeedsBoundsOnBothSides)
{
    const std::vector<Bound> one{{0, 0}};
    EXPECT_FALSE(fit(one, {}, 0, 10, steepest));
    EXPECT_FALSE(fit({}, one, 0, 10, steepest));
}

/// Between bounds of one moment, only the steepest slope limits how far lines go apart.
TEST(Fit, OneMomentLeavesTheSlopeOpen)
{
    const std::vector<Bound> upper{{500'000, 30}}, lower{{500'000, 10}};
    const auto found = fit(upper, lower, 0, 1'000'000, steepest);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->contradictory);
    for (const Interval& interval : {found->begin, found->end}) {
        EXPECT_NEAR(static_cast<double>(interval.low), 10 - 50, 1);
        EXPECT_NEAR(static_cast<double>(interval.high), 30 + 50, 1);
    }
}

/// Bounds of 8 around a line, at both ends: exactly these are possible there.
TEST(Fit, BoundsAtBothEndsAreMet)
{
    const std::int64_t far = std::int64_t{1} << 50;  // clocks of machines that were started days apart
    const std::vector<Bound> upper{{0, far + 8}, {1'000'000, far + 58}}, lower{{0, far - 8}, {1'000'000, far + 42}};
    const auto found = fit(upper, lower, 0, 1'000'000, steepest);
    ASSERT_TRUE(found);
    EXPECT_NEAR(static_cast<double>(found->begin.low - far), -8, 1);
    EXPECT_NEAR(static_cast<double>(found->begin.high - far), 8, 1);
    EXPECT_NEAR(static_cast<double>(found->end.low - far), 42, 1);
    EXPECT_NEAR(static_cast<double>(found->end.high - far), 58, 1);
}

TEST(Fit, ALineThatIsForcedIsFound)
{
    const std::vector<Bound> bounds{{0, 5}, {1'000'000, 65}};
    const auto found = fit(bounds, bounds, 0, 1'000'000, steepest);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->contradictory);
    EXPECT_LE(found->begin.high - found->begin.low, 4);
    EXPECT_LE(found->begin.low, 5);
    EXPECT_GE(found->begin.high, 5);
    EXPECT_LE(found->end.low, 65);
    EXPECT_GE(found->end.high, 65);
}

TEST(Fit, WhatContradictsItselfIsBrokenLeast)
{
    const std::vector<Bound> upper{{0, 0}, {1000, 0}}, lower{{0, 100}, {1000, 100}};
    const auto found = fit(upper, lower, 0, 1000, steepest);
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->contradictory);
    EXPECT_NEAR(static_cast<double>(found->begin.low), 0, 1);
    EXPECT_NEAR(static_cast<double>(found->begin.high), 100, 1);
}

/// Random bounds around a line: it stays among those that are found.
TEST(Fit, TheTruthIsNeverLeftOut)
{
    std::mt19937_64 random(5);
    const auto draw = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    for (int round = 0; round < 200; ++round) {
        constexpr std::int64_t length = 40'000'000'000;
        const double slope = (static_cast<double>(draw(200)) - 100) * 0.9e-6;
        const double offset = static_cast<double>(draw(1'000'000'000)) - 5e8;
        const auto truth = [&](std::int64_t time) { return offset + slope * static_cast<double>(time); };
        std::vector<Bound> upper, lower;
        for (int i = 0; i < 20; ++i) {
            const std::int64_t a = draw(length), b = draw(length);
            upper.push_back({a, static_cast<std::int64_t>(truth(a)) + 1 + draw(100'000)});
            lower.push_back({b, static_cast<std::int64_t>(truth(b)) - 1 - draw(100'000)});
        }
        const auto found = fit(upper, lower, 0, length, steepest);
        ASSERT_TRUE(found);
        EXPECT_FALSE(found->contradictory);
        EXPECT_LE(static_cast<double>(found->begin.low), truth(0));
        EXPECT_GE(static_cast<double>(found->begin.high), truth(0));
        EXPECT_LE(static_cast<double>(found->end.low), truth(length));
        EXPECT_GE(static_cast<double>(found->end.high), truth(length));
    }
}

}  // namespace
}  // namespace critpath::replayer::clocks

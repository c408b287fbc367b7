// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/clock_correction.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace critpath::test
{
namespace
{

using otf2::ClockCorrection;
using otf2::ClockPoint;

constexpr std::uint64_t second_ns = 1'000'000'000;

TEST(ClockCorrection, WithoutPointsThereIsNone)
{
    const ClockCorrection none;
    EXPECT_TRUE(none.is_identity());
    EXPECT_EQ(none.to_shared(123), 123);
    EXPECT_EQ(none.uncertainty(123), 0);
}

TEST(ClockCorrection, OnePointIsAnOffset)
{
    const ClockCorrection one({{1000 * second_ns, -400, 7}});
    EXPECT_EQ(one.to_shared(0), -400);
    EXPECT_EQ(one.to_shared(5000 * second_ns), 5'000'000'000'000 - 400);
    EXPECT_EQ(one.uncertainty(1000 * second_ns), 7);
    EXPECT_EQ(one.uncertainty(1001 * second_ns), 7 + 100'000);  // 100 ppm
    EXPECT_EQ(one.uncertainty(999 * second_ns), 7 + 100'000);
}

TEST(ClockCorrection, BetweenPointsItIsLinear)
{
    const ClockCorrection two({{100 * second_ns, 1000, 10}, {200 * second_ns, 3000, 30}});
    EXPECT_EQ(two.to_shared(100 * second_ns), 100'000'001'000);
    EXPECT_EQ(two.to_shared(150 * second_ns), 150'000'002'000);
    EXPECT_EQ(two.to_shared(200 * second_ns), 200'000'003'000);
    EXPECT_EQ(two.uncertainty(100 * second_ns), 10);
    EXPECT_EQ(two.uncertainty(200 * second_ns), 30);
    EXPECT_EQ(two.uncertainty(150 * second_ns), 20 + 50);  // 1e-9 of the 50 s to the nearest
    EXPECT_EQ(two.largest_uncertainty(100 * second_ns, 200 * second_ns), 70);
}

TEST(ClockCorrection, BeyondTheEndsItGoesOnAtTheRateThatIsKnown)
{
    const ClockCorrection known({{100 * second_ns, 0, 10}, {200 * second_ns, 1'000'000, 10}});  // 10 ppm
    EXPECT_EQ(known.to_shared(99 * second_ns), 99'000'000'000 - 10'000);
    EXPECT_EQ(known.to_shared(201 * second_ns), 201'001'010'000);
    EXPECT_LE(known.uncertainty(99 * second_ns), 10 + 2);

    // 1 ms apart and known to 1 us: nothing is known of the rate.
    const ClockCorrection close({{100 * second_ns, 0, 1000}, {100 * second_ns + 1'000'000, 900, 1000}});
    EXPECT_EQ(close.to_shared(99 * second_ns), 99'000'000'000);
    EXPECT_EQ(close.to_shared(101 * second_ns), 101'000'000'900);
    EXPECT_EQ(close.uncertainty(99 * second_ns), 1000 + 100'000);
}

TEST(ClockCorrection, PointsMayComeInAnyOrder)
{
    const ClockCorrection sorted({{100, 1, 0}, {200, 2, 0}, {300, 7, 0}});
    const ClockCorrection mixed({{300, 7, 0}, {100, 1, 0}, {200, 2, 0}});
    for (std::uint64_t t = 0; t < 400; ++t) {
        EXPECT_EQ(sorted.to_shared(t), mixed.to_shared(t));
    }
}

TEST(ClockCorrection, TimeNeverGoesBack)
{
    // The second point would: it is left out.
    const ClockCorrection contradicting({{100, 0, 0}, {200, -150, 0}, {300, 0, 0}});
    EXPECT_EQ(contradicting.contradictions(), 1U);
    EXPECT_EQ(contradicting.to_shared(200), 200);

    for (unsigned seed = 0; seed < 100; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<ClockPoint> points;
        for (int i = 0; i < 5; ++i) {
            points.push_back({random() % 2000, static_cast<std::int64_t>(random() % 3000) - 1500,
                              static_cast<std::int64_t>(random() % 10)});
        }
        const ClockCorrection any(points);
        for (std::uint64_t t = 1; t < 2500; ++t) {
            ASSERT_LE(any.to_shared(t - 1), any.to_shared(t)) << "seed " << seed << " at " << t;
        }
    }
}

TEST(ClockCorrection, LargeTimesDoNotOverflow)
{
    constexpr std::uint64_t year = 31'557'600 * second_ns;
    const ClockCorrection far({{10 * year, -9 * static_cast<std::int64_t>(year), 5},
                               {11 * year, -9 * static_cast<std::int64_t>(year) + 1'000'000'000'000, 5}});
    EXPECT_EQ(far.to_shared(10 * year + year / 2), static_cast<std::int64_t>(year + year / 2) + 500'000'000'000);
}

TEST(ClockCorrection, ADriftingClockComesBackExactly)
{
    // 37 ppm fast, an hour, known at both ends.
    const auto local = [](std::int64_t t) { return static_cast<std::uint64_t>(t + 5'000'000 + t * 37 / 1'000'000); };
    const auto offset = [&](std::int64_t t) { return t - static_cast<std::int64_t>(local(t)); };
    constexpr std::int64_t begin = 10 * 1'000'000'000LL;
    constexpr std::int64_t end = 3610 * 1'000'000'000LL;
    const ClockCorrection hour({{local(begin), offset(begin), 0}, {local(end), offset(end), 0}});
    for (std::int64_t t = begin - 1'000'000'000; t <= end + 1'000'000'000; t += 7'777'777'777) {
        EXPECT_NEAR(static_cast<double>(hour.to_shared(local(t)) - t), 0, 1);
    }
}

TEST(ClockPoint, IsTheSmallestAroundAnInterval)
{
    for (const std::int64_t low : {-7, -6, 0, 5, 6}) {
        for (const std::int64_t high : {6, 7, 10}) {
            const ClockPoint point = otf2::point_around(1, low, high);
            EXPECT_LE(point.offset - point.half_width, low);
            EXPECT_EQ(point.offset + point.half_width, high);
            EXPECT_LE(2 * point.half_width, high - low + 1);
        }
    }
}

}  // namespace
}  // namespace critpath::test

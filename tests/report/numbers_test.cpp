// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/numbers.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace critpath::report
{
namespace
{

TEST(Numbers, SecondsAreRoundedInIntegers)
{
    EXPECT_EQ(seconds_text(1'234'567'890, 3), "1.235");
    EXPECT_EQ(seconds_text(1'234'500'000, 3), "1.235");
    EXPECT_EQ(seconds_text(1'234'499'999, 3), "1.234");
    EXPECT_EQ(seconds_text(999'999'999, 0), "1");
    EXPECT_EQ(seconds_text(1, 9), "0.000000001");
    EXPECT_EQ(seconds_text(0, 3), "0.000");
    EXPECT_EQ(seconds_text(-1'500'000'000, 1), "-1.5");
    EXPECT_EQ(seconds_text(std::numeric_limits<std::int64_t>::max(), 9), "9223372036.854775807");
}

TEST(Numbers, ExactSecondsLoseNothing)
{
    EXPECT_EQ(exact_seconds(10'000'000'000), "10");
    EXPECT_EQ(exact_seconds(0), "0");
    EXPECT_EQ(exact_seconds(1), "0.000000001");
    EXPECT_EQ(exact_seconds(86'400'000'000'001), "86400.000000001");
}

TEST(Numbers, DurationsHaveFewDigits)
{
    EXPECT_EQ(duration_text(17), "17 ns");
    EXPECT_EQ(duration_text(1'500), "1.5 µs");
    EXPECT_EQ(duration_text(1'003'009), "1.003 ms");
    EXPECT_EQ(duration_text(12'345'678'901), "12.346 s");
    EXPECT_EQ(duration_text(5'000'000'000'000), "5000.0 s");
}

TEST(Numbers, PercentSaysThatSmallIsNotZero)
{
    EXPECT_EQ(percent_text(0), "0.0");
    EXPECT_EQ(percent_text(1e-9), "<0.1");
    EXPECT_EQ(percent_text(0.0005), "0.1");
    EXPECT_EQ(percent_text(0.12345), "12.3");
    EXPECT_EQ(percent_text(1), "100.0");
}

TEST(Numbers, ValuesOfEstimatesAreOfOneWidth)
{
    EXPECT_EQ(estimate_text({0.412, 0.393, 0.431, false}), " 41.2 ± 1.9");
    EXPECT_EQ(estimate_text({0.412, 0.3935, 0.4314, false}), " 41.2 ± 1.9") << "no digit apart";
    EXPECT_EQ(estimate_text({0.412, 0.362, 0.467, false}), " 41.2 ± 5.5") << "the larger one";
    EXPECT_EQ(estimate_text({0.412, 0.362, 0.468, false}), " 41.2 +5.6 -5.0");
    EXPECT_EQ(estimate_text({0.012, 0.005, 0.031, false}), "  1.2 +1.9 -0.7");
    EXPECT_EQ(estimate_text({1, 0.9, 1, false}), "100.0 +0.0 -10.0");
    EXPECT_EQ(estimate_text({0.12, 0.12, 0.12, true}), " 12.0 exact");
    EXPECT_EQ(estimate_text({1, 0.9999, 1, false}), "100.0 ±<0.1");
    EXPECT_EQ(estimate_text({0.5, 0.095, 0.905, false}), " 50.0 ±40.5");
}

TEST(Numbers, CountsAreGrouped)
{
    EXPECT_EQ(count_text(0), "0");
    EXPECT_EQ(count_text(999), "999");
    EXPECT_EQ(count_text(1000), "1,000");
    EXPECT_EQ(count_text(1'234'567), "1,234,567");
    EXPECT_EQ(counted(1, "row"), "1 row");
    EXPECT_EQ(counted(0, "row"), "0 rows");
}

TEST(Numbers, DurationsAreReadWithUnits)
{
    EXPECT_EQ(parse_duration("1.5"), 1'500'000'000);
    EXPECT_EQ(parse_duration("1.5s"), 1'500'000'000);
    EXPECT_EQ(parse_duration("20ms"), 20'000'000);
    EXPECT_EQ(parse_duration("3us"), 3'000);
    EXPECT_EQ(parse_duration("3µs"), 3'000);
    EXPECT_EQ(parse_duration("7ns"), 7);
    EXPECT_EQ(parse_duration("0"), 0);
    for (const char* bad : {"", "s", "-1", "1.5 s", "1m", "nan", "inf", "1e30", "1.5x", "abc"})
        EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
}

TEST(Numbers, PercentagesAreReadFrom0To100)
{
    EXPECT_EQ(parse_percent("0%"), 0);
    EXPECT_EQ(parse_percent("40%"), 0.4);
    EXPECT_EQ(parse_percent("12.5%"), 0.125);
    EXPECT_EQ(parse_percent("100%"), 1);
    for (const char* bad : {"", "%", "40", "-1%", "100.1%", "nan%", "40 %", "40%%"})
        EXPECT_EQ(parse_percent(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/sample_counts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>

namespace critpath::archive
{
namespace
{

using testing::ElementsAre;
using testing::IsEmpty;

spool::SampleFormat format_of(const char* sampled, std::initializer_list<const char*> events, std::uint64_t counted)
{
    spool::SampleFormat format{};
    std::strcpy(format.event, sampled);
    std::size_t i = 0;
    for (const char* event : events) {
        std::strcpy(format.events[i++], event);
    }
    format.counted_events = counted;
    return format;
}

TEST(EventGroup, HasTheSampledEventUnlessThatIsTime)
{
    const EventGroup cycles = event_group(format_of("cycles", {"page-faults", "instructions", "cache-misses"}, 7));
    EXPECT_EQ(cycles.values, 4U);
    EXPECT_EQ(cycles.page_faults, 1U);
    EXPECT_THAT(cycles.names, ElementsAre("cycles", "instructions", "cache-misses"));
    EXPECT_THAT(cycles.places, ElementsAre(0, 2, 3));
    EXPECT_THAT(cycles.missing, IsEmpty());
    const EventGroup clock = event_group(format_of("cpu-clock", {"page-faults", "cpu-migrations"}, 3));
    EXPECT_THAT(clock.names, ElementsAre("cpu-migrations"));
    EXPECT_THAT(clock.places, ElementsAre(2));
}

TEST(EventGroup, ValuesStandCloserWhereEventsAreMissing)
{
    const EventGroup group = event_group(format_of("cycles", {"page-faults", "instructions", "cache-misses"}, 4));
    EXPECT_EQ(group.values, 2U);
    EXPECT_FALSE(group.page_faults);
    EXPECT_THAT(group.names, ElementsAre("cycles", "cache-misses"));
    EXPECT_THAT(group.places, ElementsAre(0, 1));
    EXPECT_THAT(group.missing, ElementsAre("page-faults", "instructions"));
}

class Counting : public testing::Test
{
protected:
    Counting() : counts(event_group(format_of("cycles", {"instructions"}, 1))) {}

    void sample(std::uint64_t enabled, std::uint64_t running, std::uint64_t cycles, std::uint64_t instructions)
    {
        const std::uint64_t values[] = {cycles, instructions};
        counts.advance(EventTotals{enabled, running, values});
    }

    SampleCounts counts;
};

TEST_F(Counting, DifferencesBeginAtZero)
{
    sample(100, 100, 1000, 300);
    EXPECT_EQ(counts.since(0), 1000U);
    EXPECT_EQ(counts.since(1), 300U);
    sample(150, 150, 1500, 1300);
    EXPECT_EQ(counts.since(0), 500U);
    EXPECT_EQ(counts.since(1), 1000U);
    EXPECT_EQ(counts.sum(1), 1300);
    EXPECT_EQ(counts.counted(), SampleCounts::whole);
}

TEST_F(Counting, EachDifferenceIsScaledByItsOwnShare)
{
    sample(100, 100, 1000, 300);
    sample(200, 125, 1250, 400);  // a quarter of the time
    EXPECT_EQ(counts.counted(), 250'000U);
    EXPECT_EQ(counts.since(0), 1000U);
    EXPECT_EQ(counts.since(1), 400U);
    sample(300, 225, 2250, 700);
    EXPECT_EQ(counts.counted(), SampleCounts::whole);
    EXPECT_EQ(counts.since(1), 300U);
    EXPECT_EQ(counts.sum(0), 3000);
    EXPECT_EQ(counts.sum(1), 1000);
}

TEST_F(Counting, TooLittleIsNotKnown)
{
    sample(100, 100, 1000, 300);
    sample(200, 104, 1040, 310);  // 4 %
    EXPECT_EQ(counts.counted(), 0U);
    EXPECT_EQ(counts.since(1), 0U);
    EXPECT_EQ(counts.sum(1), 300);
    sample(300, 109, 1090, 320);  // 5 %
    EXPECT_EQ(counts.counted(), 50'000U);
    EXPECT_EQ(counts.since(1), 200U);
    EXPECT_EQ(counts.sum(1), 500);
}

TEST_F(Counting, AnEventThatIsLostIsNotKnownUntilTheSecondSampleBehindIt)
{
    sample(100, 100, 1000, 300);
    counts.advance(std::nullopt);
    EXPECT_EQ(counts.counted(), 0U);
    sample(300, 300, 3000, 900);
    EXPECT_EQ(counts.counted(), 0U) << "since when, nobody knows";
    sample(400, 400, 4000, 1000);
    EXPECT_EQ(counts.counted(), SampleCounts::whole);
    EXPECT_EQ(counts.since(1), 100U);
    EXPECT_EQ(counts.sum(1), 400);
}

TEST_F(Counting, WithAPauseItIsAtLeastSoMuch)
{
    sample(100, 100, 1000, 300);
    const std::uint64_t values[] = {1100, 320};
    counts.advance(EventTotals{110, 110, values}, false);
    EXPECT_EQ(counts.counted(), 0U);
    EXPECT_EQ(counts.since(1), 20U);
    EXPECT_EQ(counts.sum(1), 300);
    sample(210, 210, 2100, 420);
    EXPECT_EQ(counts.counted(), SampleCounts::whole);
    EXPECT_EQ(counts.since(1), 100U);
    EXPECT_EQ(counts.sum(1), 400);
}

TEST_F(Counting, CountersWrap)
{
    constexpr std::uint64_t high = std::uint64_t{1} << 62;
    sample(100, 100, high, high);  // no step is larger than this
    sample(101, 101, 2 * high, high);
    sample(102, 102, 3 * high, high);
    sample(103, 103, 3 * high + (high - 10), high);
    sample(104, 104, 5, high + 1);
    EXPECT_EQ(counts.counted(), SampleCounts::whole);
    EXPECT_EQ(counts.since(0), 15U);
    EXPECT_EQ(counts.since(1), 1U);
}

TEST_F(Counting, ASampleInTheMidstOfAnotherHasNothing)
{
    sample(100, 100, 1000, 300);
    sample(201, 201, 2010, 700);
    sample(200, 200, 2000, 690);
    EXPECT_EQ(counts.counted(), 0U);
    sample(300, 300, 3000, 1000);
    EXPECT_EQ(counts.since(1), 300U);
    EXPECT_EQ(counts.sum(0), 3000);
    EXPECT_EQ(counts.sum(1), 1000);
}

}  // namespace
}  // namespace critpath::archive

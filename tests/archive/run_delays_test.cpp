// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/run_delays.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace critpath::archive
{
namespace
{

using testing::ElementsAre;

constexpr std::uint64_t ms = 1'000'000;

/// Times in ms.
OffInterval blocked(std::uint64_t begin, std::uint64_t end)
{
    return {begin * ms, end * ms, false, 0, false};
}

OffInterval preempted(std::uint64_t begin, std::uint64_t end)
{
    return {begin * ms, end * ms, true, 0, false};
}

class Delays
{
public:
    Delays& of(std::uint64_t since, std::uint64_t until, std::uint64_t waited)
    {
        delays_.on(RawRunDelay{since * ms, until * ms, waited * ms});
        return *this;
    }
    Delays& time(std::uint64_t time)
    {
        delays_.on_time(time * ms);
        return *this;
    }
    Delays& gap()
    {
        delays_.on_gap();
        return *this;
    }

    [[nodiscard]] std::vector<std::string> divide(const std::vector<OffInterval>& intervals) const
    {
        std::vector<std::string> words;
        for (const OffInterval& off : delays_.divide(intervals)) {
            words.push_back(fmt::format("{}-{}{}", static_cast<double>(off.begin) / ms,
                                        static_cast<double>(off.end) / ms,
                                        off.woken       ? " woken"
                                        : off.preempted ? " preempted"
                                                        : ""));
        }
        return words;
    }

private:
    RunDelays delays_;
};

TEST(RunDelays, WhatIsNotPreemptedIsTheEndOfTheBlockedInterval)
{
    EXPECT_THAT(Delays().of(0, 100, 7).divide({preempted(10, 13), blocked(20, 50)}),
                ElementsAre("10-13 preempted", "20-46", "46-50 woken"));
}

TEST(RunDelays, WithoutACountAllIsBlocked)
{
    EXPECT_THAT(Delays().divide({blocked(20, 50)}), ElementsAre("20-50"));
    EXPECT_THAT(Delays().of(0, 15, 4).of(60, 90, 4).divide({blocked(20, 50)}), ElementsAre("20-50"));
}

TEST(RunDelays, AnIntervalIsOfTheSpanInWhichItEnds)
{
    EXPECT_THAT(Delays().of(0, 30, 0).of(30, 60, 4).divide({blocked(20, 50), blocked(55, 70)}),
                ElementsAre("20-46", "46-50 woken", "55-70"));
    EXPECT_THAT(Delays().of(0, 50, 4).of(50, 60, 0).divide({blocked(20, 50)}), ElementsAre("20-46", "46-50 woken"));
    EXPECT_THAT(Delays().of(0, 40, 0).of(40, 60, 9).divide({preempted(30, 45), blocked(50, 55)}),
                ElementsAre("30-45 preempted", "50-55"));
}

TEST(RunDelays, SeveralIntervalsHaveOfTheSumByTheirLengths)
{
    EXPECT_THAT(Delays().of(0, 100, 6).divide({blocked(10, 20), blocked(30, 50)}),
                ElementsAre("10-18", "18-20 woken", "30-46", "46-50 woken"));
}

TEST(RunDelays, NoneIsLongerThanItsInterval)
{
    const auto words = Delays().of(0, 100, 90).divide({blocked(10, 20)});
    EXPECT_THAT(words, ElementsAre("10-10.000001", "10.000001-20 woken"));
}

TEST(RunDelays, WhatAWakeUpTakesIsNoWait)
{
    RunDelays delays;
    delays.on(RawRunDelay{0, 100 * ms, least_run_delay - 1});
    EXPECT_EQ(delays.divide({blocked(10, 20)}).size(), 1U);
    RunDelays longer;
    longer.on(RawRunDelay{0, 100 * ms, least_run_delay});
    EXPECT_EQ(longer.divide({blocked(10, 20)}).size(), 2U);
}

TEST(RunDelays, OfAPreemptionThatGoesOnThereMayBeAPartInTheCount)
{
    EXPECT_THAT(Delays().of(0, 40, 9).of(40, 60, 0).divide({blocked(10, 30), preempted(35, 41)}),
                ElementsAre("10-27", "27-30 woken", "35-41 preempted"));
    EXPECT_THAT(Delays().of(0, 40, 9).of(40, 60, 2).of(60, 80, 0).divide({blocked(10, 30), preempted(35, 41)}),
                ElementsAre("10-25", "25-30 woken", "35-41 preempted"));
    // At the most, all of it until then.
    EXPECT_THAT(Delays().of(0, 40, 9).of(50, 60, 0).divide({blocked(10, 30), preempted(35, 51)}),
                ElementsAre("10-26", "26-30 woken", "35-51 preempted"));
}

TEST(RunDelays, WhatIsTooLittleInOneSpanIsNotMissingInAnother)
{
    EXPECT_THAT(Delays().of(0, 40, 4).of(40, 60, 0).divide({blocked(10, 30), preempted(45, 55)}),
                ElementsAre("10-26", "26-30 woken", "45-55 preempted"));
}

TEST(RunDelays, WhereRecordsAreMissingNothingIsKnown)
{
    const std::vector<OffInterval> off = {blocked(10, 20), blocked(50, 60), blocked(110, 120)};
    EXPECT_THAT(Delays().time(5).of(0, 30, 4).gap().of(30, 90, 4).time(40).time(100).of(90, 130, 4).divide(off),
                ElementsAre("10-20", "50-60", "110-116", "116-120 woken"));
    EXPECT_THAT(Delays().time(25).gap().of(0, 20, 4).of(20, 100, 4).divide(off),
                ElementsAre("10-16", "16-20 woken", "50-60", "110-120"));
}

TEST(RunDelays, ThePlaceStaysWithWhatIsBlockedAndTheProcessorGoesWithTheWait)
{
    OffInterval off = blocked(10, 20);
    off.found_in = 7;
    off.processor = 3;
    off.migrated = true;
    RunDelays delays;
    delays.on(RawRunDelay{0, 100 * ms, 4 * ms});
    const auto divided = delays.divide({off});
    ASSERT_EQ(divided.size(), 2U);
    EXPECT_EQ(divided[0].found_in, 7U);
    EXPECT_FALSE(divided[0].migrated);
    EXPECT_FALSE(divided[0].preempted);
    EXPECT_EQ(divided[1].found_in, OffInterval::nowhere);
    EXPECT_TRUE(divided[1].migrated);
    EXPECT_TRUE(divided[1].preempted);
    EXPECT_EQ(divided[1].processor, 3U);
}

/// What a thread did, by one who knows it.
class Truth
{
public:
    explicit Truth(std::uint32_t seed) : random_(seed)
    {
        const std::uint64_t events = between(1, 60);
        for (std::uint64_t i = 0; i < events; ++i) {
            run();
            between(0, 2) == 0 ? preempt() : block();
        }
        run();
        read(time_);
    }

    std::vector<OffInterval> recorded;
    RunDelays delays;
    std::vector<std::uint64_t> waits;  // of each that is recorded: behind its wake-up
    std::vector<std::size_t> beside;   // how many others are blocked until the same span

private:
    std::uint64_t between(std::uint64_t least, std::uint64_t most)
    {
        return std::uniform_int_distribution<std::uint64_t>(least, most)(random_);
    }

    /// At any moment that it has a processor, or is blocked.
    void read(std::uint64_t time)
    {
        note(time);
        end_span();
    }

    void note(std::uint64_t time)
    {
        delays.on(RawRunDelay{last_reading_, time, waited_ - last_waited_});
        last_reading_ = time;
        last_waited_ = waited_;
    }

    void end_span()
    {
        if (may_go_on_) {
            return;
        }
        for (const std::size_t i : open_) {
            beside[i] = open_.size() - 1;
        }
        open_.clear();
    }

    void may_read(std::uint64_t length)
    {
        if (between(0, 3) == 0) {
            read(time_ + between(0, length));
        }
        time_ += length;
    }

    void run() { may_read(between(1000, 3 * ms)); }

    void preempt()
    {
        const std::uint64_t begin = time_, wait = between(1, 5 * ms);
        std::uint64_t counted = 0;
        if (between(0, 3) == 0) {
            const std::uint64_t since = between(0, wait - 1);
            counted = between(0, since);  // it was moved to another processor then
            waited_ += counted;
            note(begin + since);
            may_go_on_ = since > 0;
            end_span();
        }
        may_go_on_ = false;
        time_ += wait;
        waited_ += wait - counted;
        add({begin, time_, true, 0, false}, 0);
    }

    void block()
    {
        const std::uint64_t begin = time_;
        may_read(between(ms, 20 * ms));
        const std::uint64_t wait = between(0, 1) * between(least_run_delay, 6 * ms);
        time_ += wait;
        waited_ += wait;
        open_.push_back(recorded.size());
        add({begin, time_, false, 0, false}, wait);
    }

    void add(const OffInterval& off, std::uint64_t wait)
    {
        recorded.push_back(off);
        waits.push_back(wait);
        beside.push_back(0);
    }

    std::mt19937 random_;
    std::uint64_t time_ = 1, waited_ = 0, last_reading_ = 0, last_waited_ = 0;
    bool may_go_on_ = false;  // the next reading belongs to this one
    std::vector<std::size_t> open_;
};

TEST(RunDelays, TheSumIsRightAndWhatEndsAloneInItsSpanIsExact)
{
    std::size_t alone = 0, not_alone = 0;
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(seed);
        const Truth truth(seed);
        const std::vector<OffInterval> divided = truth.delays.divide(truth.recorded);
        std::uint64_t found = 0, due = 0, neglected = 0;
        auto next = divided.begin();
        for (std::size_t i = 0; i < truth.recorded.size(); ++i) {
            const OffInterval& off = truth.recorded[i];
            ASSERT_NE(next, divided.end());
            ASSERT_EQ(next->begin, off.begin);
            ASSERT_EQ(next->preempted, off.preempted);
            std::uint64_t wait = 0;
            if (next->end != off.end) {
                const std::uint64_t woken = next->end;
                ++next;
                ASSERT_TRUE(next != divided.end() && next->woken);
                ASSERT_EQ(next->begin, woken);
                wait = next->end - next->begin;
            }
            ASSERT_EQ(next->end, off.end);
            ++next;
            if (!off.preempted && truth.beside[i] == 0) {
                EXPECT_EQ(wait, truth.waits[i]);
                ++alone;
            } else {
                neglected += off.preempted ? 0 : least_run_delay;
                ++not_alone;
            }
            found += wait;
            due += truth.waits[i];
        }
        EXPECT_EQ(next, divided.end());
        EXPECT_LE(found, due);
        EXPECT_GE(found + neglected, due);
    }
    EXPECT_GT(alone, 500U);
    EXPECT_GT(not_alone, 500U);
}

}  // namespace
}  // namespace critpath::archive

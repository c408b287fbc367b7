// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/clock_domain.hpp"
#include "collector/mpi/clock_interval.hpp"
#include "collector/mpi/clock_schedule.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace critpath::preload
{

namespace
{

/// A clock with an offset and a rate of its own.
struct SyntheticClock {
    double offset;  // ns
    double rate;    // relative, 1e-6 is 1 us a second
    [[nodiscard]] std::uint64_t at(double time) const
    {
        return static_cast<std::uint64_t>(std::floor(time * (1 + rate) + offset));
    }
};

constexpr double start_ns = 1e12;  // ns; offsets are smaller

/// What the first clock shows more than the second at `time`.
double difference(const SyntheticClock& a, const SyntheticClock& b, double time)
{
    return time * (a.rate - b.rate) + a.offset - b.offset;
}

bool contains(const OffsetInterval& interval, double value)
{
    return static_cast<double>(interval.low) <= value && value <= static_cast<double>(interval.high);
}

class Exchange
{
public:
    explicit Exchange(unsigned seed) : random_(seed) {}

    /// Until it is settled; moves `time` on. Each way takes 1 us, or, now and then, up to 50 us.
    OffsetEstimate run(const SyntheticClock& here, const SyntheticClock& there, double& time)
    {
        OffsetEstimate estimate;
        while (!estimate.is_settled()) {
            const std::uint64_t sent = here.at(time);
            time += way();
            const std::uint64_t stamp = there.at(time);
            time += way();
            estimate.add(sent, stamp, here.at(time));
        }
        return estimate;
    }

private:
    double way()
    {
        std::uniform_real_distribution<double> chance(0, 1);
        return 1000 + (chance(random_) < 0.2 ? 50000 : 200) * chance(random_);
    }
    std::mt19937 random_;
};

}  // namespace

TEST(OffsetInterval, HoldsLaterWithTheDriftOfTwoOscillators)
{
    const OffsetInterval later = OffsetInterval{-10, 20}.after(1'000'000);
    EXPECT_EQ(later.low, -110);
    EXPECT_EQ(later.high, 120);
    EXPECT_EQ(OffsetInterval{}.after(1).high, 1);
    EXPECT_EQ(OffsetInterval{}.after(0).width(), 0);
}

TEST(OffsetInterval, DifferencesAddUp)
{
    const OffsetInterval sum = chain({-5, 7}, {100, 101});
    EXPECT_EQ(sum.low, 95);
    EXPECT_EQ(sum.high, 108);
}

TEST(OffsetEstimate, OneRoundTripBoundsTheOffset)
{
    OffsetEstimate estimate;
    estimate.add(1000, 5000, 1400);
    EXPECT_EQ(estimate.interval().low, -4001);
    EXPECT_EQ(estimate.interval().high, -3599);
    EXPECT_EQ(estimate.stamp(), 5000U);
}

TEST(OffsetEstimate, ManyIntersect)
{
    OffsetEstimate estimate;
    estimate.add(1000, 5000, 1400);
    estimate.add(1500, 5490, 1700);  // -3991 .. -3789
    EXPECT_EQ(estimate.interval().low, -3991);
    EXPECT_EQ(estimate.interval().high, -3789);
    EXPECT_EQ(estimate.rounds(), 2);
}

TEST(OffsetEstimate, AJumpOfAClockStartsAgain)
{
    OffsetEstimate estimate;
    estimate.add(1000, 5000, 1400);
    estimate.add(2000, 106000, 2400);
    EXPECT_EQ(estimate.interval().low, -104001);
    EXPECT_EQ(estimate.interval().high, -103599);
}

TEST(OffsetEstimate, EndsWhenNothingIsGained)
{
    OffsetEstimate estimate;
    for (std::uint64_t i = 0; !estimate.is_settled(); ++i) {
        estimate.add(10 * i, 10 * i, 10 * i + 4);
    }
    EXPECT_LE(estimate.rounds(), OffsetEstimate::patience + 1);
}

TEST(OffsetEstimate, ContainsTheTruthWhateverTheWaysTake)
{
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> offsets(-1e11, 1e11);
        std::uniform_real_distribution<double> rates(-50e-6, 50e-6);
        const SyntheticClock here{offsets(random), rates(random)};
        const SyntheticClock there{offsets(random), rates(random)};
        double time = start_ns;
        const OffsetEstimate estimate = Exchange(seed).run(here, there, time);
        // When the partner's clock showed the stamp.
        const double then = (static_cast<double>(estimate.stamp()) - there.offset) / (1 + there.rate);
        EXPECT_TRUE(contains(estimate.interval(), difference(here, there, then))) << "seed " << seed;
        EXPECT_LE(estimate.interval().width(), 2700) << "seed " << seed;  // both ways, 200 ns of jitter, drift
        EXPECT_LE(estimate.rounds(), OffsetEstimate::most_rounds);
    }
}

TEST(ClockTree, EveryClockHasOneParentThatKnowsAlready)
{
    for (const unsigned size : {1U, 2U, 3U, 7U, 8U, 64U, 100U, 1000U}) {
        std::vector<unsigned> asked_in_step(size, 0);
        std::vector<unsigned> parents(size, size);
        for (unsigned clock = 0; clock < size; ++clock) {
            for (unsigned step = ClockTree::first_step(clock); clock + step < size; step *= 2) {
                EXPECT_EQ(parents[clock + step], size) << "asked twice";
                parents[clock + step] = clock;
                asked_in_step[clock + step] = step;
                EXPECT_EQ(ClockTree::parent(clock + step), clock);
            }
        }
        for (unsigned clock = 1; clock < size; ++clock) {
            ASSERT_LT(parents[clock], clock);
            EXPECT_GT(asked_in_step[clock], asked_in_step[parents[clock]]);
            EXPECT_LE(std::popcount(clock), static_cast<int>(std::bit_width(size - 1)));  // hops to clock 0
        }
    }
}

TEST(ClockTree, BoundsAddUpAndHold)
{
    constexpr unsigned size = 64;
    std::mt19937 random(7);
    std::uniform_real_distribution<double> offsets(-1e11, 1e11);
    std::uniform_real_distribution<double> rates(-50e-6, 50e-6);
    std::vector<SyntheticClock> clocks;
    for (unsigned i = 0; i < size; ++i) {
        clocks.push_back({offsets(random), rates(random)});
    }
    struct Known {
        OffsetInterval interval;
        std::uint64_t stamp = 0;
    };
    std::vector<Known> known(size);
    double time = start_ns;
    Exchange exchange(3);
    for (unsigned step = 1; step < size; step *= 2) {
        for (unsigned parent = 0; parent < step; ++parent) {
            const OffsetEstimate estimate = exchange.run(clocks[parent], clocks[parent + step], time);
            const OffsetInterval ours =
                parent == 0 ? OffsetInterval{}
                            : known[parent].interval.after(clocks[parent].at(time) - known[parent].stamp);
            known[parent + step] = {chain(ours, estimate.interval()), estimate.stamp()};
        }
    }
    for (unsigned i = 1; i < size; ++i) {
        const double then = (static_cast<double>(known[i].stamp) - clocks[i].offset) / (1 + clocks[i].rate);
        EXPECT_TRUE(contains(known[i].interval, difference(clocks[0], clocks[i], then))) << "clock " << i;
    }
}

// ----------------------------------------------------------------------------------------------- schedule

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t second = 1000 * ms;

struct Outcome {
    std::vector<std::uint64_t> compared;  // ns
    std::uint64_t agreements = 0;
};

/// A program with one collective each `pace(time)` ns.
template <class Pace>
Outcome simulate(std::uint64_t length, const Pace& pace)
{
    ClockSchedule schedule(300 * second, 60 * second);
    Outcome outcome;
    for (std::uint64_t time = 0; time < length; time += pace(time)) {
        if (schedule.count()) {
            ++outcome.agreements;
            if (schedule.agree(time)) {
                outcome.compared.push_back(time);
            }
        }
    }
    return outcome;
}

void expect_on_time(const std::vector<std::uint64_t>& compared, std::uint64_t tolerance)
{
    for (std::size_t i = 0; i < compared.size(); ++i) {
        const std::uint64_t due = i == 0 ? 300 * second : compared[i - 1] + 60 * second;
        EXPECT_GE(compared[i], due);
        EXPECT_LE(compared[i], due + tolerance);
    }
}

TEST(ClockSchedule, ComparesEachMinuteAfterFive)
{
    for (const std::uint64_t pace : {50 * ms / 1000, 10 * ms, 700 * ms}) {
        const Outcome outcome = simulate(600 * second, [&](std::uint64_t) { return pace; });
        EXPECT_EQ(outcome.compared.size(), 5U) << "pace " << pace;
        expect_on_time(outcome.compared, 3 * second);
    }
}

TEST(ClockSchedule, ShortRunsOnlyAgree)
{
    EXPECT_TRUE(simulate(299 * second, [](std::uint64_t) { return ms; }).compared.empty());
}

TEST(ClockSchedule, AgreementsAreFew)
{
    // About one a second, and where collectives are many, one in 4096.
    EXPECT_LE(simulate(1000 * second, [](std::uint64_t) { return 10 * ms; }).agreements, 1020U);
    EXPECT_LE(simulate(100 * second, [](std::uint64_t) { return ms / 100; }).agreements, 100'000'000U / 10 / 4096 + 20);
}

TEST(ClockSchedule, SurvivesASlowPhase)
{
    // From 10 000 collectives a second to one each 50 ms.
    const Outcome outcome =
        simulate(1200 * second, [](std::uint64_t time) { return time < 200 * second ? ms / 10 : 50 * ms; });
    ASSERT_FALSE(outcome.compared.empty());
    EXPECT_LE(outcome.compared.front(), 410 * second);  // 4096 collectives of 50 ms later at worst
}

TEST(ClockSchedule, RareCollectivesAgreeEachTime)
{
    const Outcome outcome = simulate(1200 * second, [](std::uint64_t) { return 45 * second; });
    EXPECT_EQ(outcome.compared.front(), 315 * second);
}

TEST(ClockSchedule, TheSameOnAllRanksWhateverTheirClocks)
{
    // The agreed time is all that a rank's own knowledge enters by.
    ClockSchedule one(300 * second, 60 * second);
    ClockSchedule other = one;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const bool turn = one.count();
        ASSERT_EQ(turn, other.count());
        if (turn) {
            ASSERT_EQ(one.agree(i * 5 * ms), other.agree(i * 5 * ms));
            ASSERT_EQ(one.next(), other.next());
        }
    }
}

// ------------------------------------------------------------------------------------------------- domains

spool::SpoolHeader header(const char* boot_id, std::int64_t offset, const char* host = "host")
{
    spool::SpoolHeader result{};
    std::strcpy(result.boot_id, boot_id);
    std::strcpy(result.host, host);
    result.time_offset = offset;
    return result;
}

TEST(ClockDomain, IsTheKernelAndTheTimeNamespace)
{
    const auto one = clock_hash(header("412f22a6", 0));
    EXPECT_EQ(one, clock_hash(header("412f22a6", 0, "other name")));
    EXPECT_NE(one, clock_hash(header("412f22a7", 0)));
    EXPECT_NE(one, clock_hash(header("412f22a6", 1)));
    EXPECT_NE(one, clock_hash(header("412f22a6", -1)));
    EXPECT_NE(clock_hash(header("", 0, "a")), clock_hash(header("", 0, "b")));
}

}  // namespace critpath::preload

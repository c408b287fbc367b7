// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/clock.hpp"
#include "collector/mpi/tick_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <thread>

namespace critpath::preload
{

namespace
{

/// A processor whose ticks have a known rate, and a clock that can be read only with an error.
struct Machine {
    double ticks_a_ns;
    double error;  // ns; each reading is wrong by at most this
    std::minstd_rand random{11};

    [[nodiscard]] std::uint64_t ticks(double time) const { return static_cast<std::uint64_t>(time * ticks_a_ns); }

    TickReading read(double time)
    {
        const double wrong = std::uniform_real_distribution(-error, error)(random);
        return {ticks(time), static_cast<std::uint64_t>(std::llround(time + wrong))};
    }
};

class Rates : public testing::TestWithParam<double>
{
};

INSTANTIATE_TEST_SUITE_P(GHz, Rates, testing::Values(0.2, 1.0, 2.596146, 5.7));

// First the line is short; the bound is that of lay(): the error of the first reading and twice that of the last, and 1
// ns for rounding.
TEST_P(Rates, TimeIsRightWithinTheErrorOfThreeReadings)
{
    Machine machine{GetParam(), 30};
    const double begin = 1e15;
    TickLine line;
    line.lay(machine.read(begin));
    double worst = 0;
    std::uint64_t last = 0;
    int readings = 0;
    std::exponential_distribution<double> pause(1e-4);
    for (double time = begin + 100; time < begin + 1e9; time += 1 + pause(machine.random)) {
        const std::uint64_t ticks = machine.ticks(time);
        const bool covered = line.covers(ticks);
        readings += covered ? 0 : 1;
        const std::uint64_t now = covered ? line.at(ticks) : line.lay(machine.read(time));
        ASSERT_GE(now, last);
        last = now;
        worst = std::max(worst, std::abs(static_cast<double>(now) - time));
    }
    EXPECT_LE(worst, 3 * machine.error + 1);
    const double lines = 1e9 * machine.ticks_a_ns / TickLine::longest;  // of full length
    EXPECT_LE(readings, lines + std::log2(1e9 * machine.ticks_a_ns)) << "the first ones are twice as long each time";
}

TEST(TickLine, CoversNothingBeforeItIsLaid)
{
    EXPECT_FALSE(TickLine().covers(0));
    EXPECT_FALSE(TickLine().covers(1));
}

// As where a virtual machine goes to another one.
TEST(TickLine, NeverGoesBackThoughTheCounterOrTheClockDoes)
{
    Machine machine{2, 0};
    for (const double jump : {-1e6, -1e8, 1e6, 1e10}) {
        TickLine line;
        line.lay(machine.read(1e9));
        line.lay(machine.read(2e9));
        std::uint64_t last = line.at(machine.ticks(2.01e9));
        const TickReading there = {machine.ticks(2.01e9) + static_cast<std::uint64_t>(std::llround(jump)),
                                   2'010'000'000};
        const TickReading other = {machine.ticks(2.01e9),
                                   2'010'000'000 + static_cast<std::uint64_t>(std::llround(jump))};
        for (const TickReading& reading : {there, other}) {
            TickLine jumped = line;
            std::uint64_t now = jumped.lay(reading);
            EXPECT_GE(now, last);
            for (std::uint64_t ticks = reading.ticks; jumped.covers(ticks); ticks += 1'000'003) {
                EXPECT_GE(jumped.at(ticks), now);
                now = jumped.at(ticks);
            }
        }
    }
}

// A computer that sleeps after a long run: CLOCK_MONOTONIC_RAW stands still, the counter goes on, or begins anew. Asked
// often and seldom. Until the line has lost what it was ahead, at most the length of a line, it may be wrong.
TEST(TickLine, LearnsTheRateAnewAfterSleep)
{
    constexpr double run = 36e12;  // ns: 10 h
    for (const double ticks_asleep : {2.0 * 3600e9, 2.0 * 30e9, -2.0 * run + 1e9}) {
        for (const double step : {1e4, 1e6}) {
            Machine machine{2, 20};
            TickLine line;
            line.lay(machine.read(1e9));
            std::uint64_t last = line.lay(machine.read(1e9 + run));
            int readings = 0;
            for (double time = 1e9 + run + step; time < run + 11e9; time += step) {
                TickReading reading = machine.read(time);
                reading.ticks += static_cast<std::uint64_t>(static_cast<std::int64_t>(ticks_asleep));
                const bool covered = line.covers(reading.ticks);
                readings += covered ? 0 : 1;
                const std::uint64_t now = covered ? line.at(reading.ticks) : line.lay(reading);
                ASSERT_GE(now, last);
                last = now;
                if (time > run + 2e9) {
                    ASSERT_NEAR(static_cast<double>(now), time, 3 * machine.error + 1);
                }
            }
            EXPECT_LE(readings, 120) << "10 s are 75 lines, and 20 that become longer";
        }
    }
}

TEST(TickLine, LosesWhatItIsAhead)
{
    Machine machine{2, 0};
    TickLine line;
    line.lay(machine.read(1e9));
    const TickReading ahead = {machine.ticks(3e9), 3'000'001'000};  // 1 us
    EXPECT_EQ(line.lay(ahead), 3'000'001'000U);
    double time = 3e9 + static_cast<double>(TickLine::longest) / machine.ticks_a_ns;
    const std::uint64_t now = line.lay(machine.read(time));
    EXPECT_GT(static_cast<double>(now), time);
    time += static_cast<double>(TickLine::longest) / machine.ticks_a_ns - 1;
    EXPECT_NEAR(static_cast<double>(line.at(machine.ticks(time))), time, 2);
}

// The bound leaves room for a reading that was interrupted four times; a wrong rate would miss it.
TEST(Clock, AgreesWithTheKernels)
{
    constexpr std::uint64_t interrupted = 100'000;  // ns
    start_ticks();                                  // else this compares the kernel with itself
    const auto compare = [] {
        std::uint64_t last = 0;
        const std::uint64_t end = nanoseconds(clock_id) + 300'000'000;
        for (std::uint64_t before = 0; before < end;) {
            before = nanoseconds(clock_id);
            const std::uint64_t own = now();
            const std::uint64_t after = nanoseconds(clock_id);
            ASSERT_GE(own + interrupted, before);
            ASSERT_LE(own, after + interrupted);
            ASSERT_GE(own, last);
            last = own;
        }
    };
    compare();
    std::thread(compare).join();
}

}  // namespace

}  // namespace critpath::preload

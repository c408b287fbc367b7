// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs the scenarios of sampling_subject, each in a process of its own, and reads the files that they leave.
#include "collector/sampling/perf_event.hpp"
#include "tests/sampling/played.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <vector>

namespace critpath::test
{
namespace
{

TEST_F(Sampling, TakesAboutFrequencyTimesProcessorTimeSamples)
{
    PLAY_OR_SKIP("main_thread");
    ASSERT_TRUE(files.contains("7.0.samples"));
    const File& file = files["7.0.samples"];
    expect_samples_match(file, facts["cpu"]);
    EXPECT_TRUE(file.whole);
    EXPECT_EQ(file.header.lost, 0);
}

TEST_F(Sampling, FillsInTheHeader)
{
    PLAY_OR_SKIP("main_thread");
    const File& file = files["7.0.samples"];
    EXPECT_EQ(file.header.magic, spool::magic);
    EXPECT_EQ(file.header.rank, 7);
    EXPECT_EQ(file.header.size, 8);
    EXPECT_EQ(file.header.thread, 0);
    EXPECT_EQ(file.header.record_size, 0);
    EXPECT_STREQ(file.header.host, "somewhere");
    EXPECT_THAT(file.header.samples.event, testing::AnyOf(testing::StrEq("cycles"), testing::StrEq("cpu-clock")));
    EXPECT_GT(file.header.samples.period, 0);
    EXPECT_NE(file.header.samples.period % 1000, 0) << "a round period meets round programs always at the same place";
    EXPECT_EQ(file.header.samples.why_not, 0);
    EXPECT_EQ(file.header.closed, 1);
    EXPECT_EQ(file.header.records, file.records);
    EXPECT_LE(facts["start"], file.header.thread_start);
    EXPECT_LT(file.header.thread_start, file.header.thread_end);
    EXPECT_LE(file.header.thread_end, facts["end"]);
    // The totals of the counter: at least the burning is in them, and no more than the life of the thread.
    EXPECT_GE(file.header.samples.time_running, facts["cpu"].get<std::uint64_t>() * 9 / 10);
    EXPECT_LE(file.header.samples.time_running, file.header.thread_end - file.header.thread_start);
    EXPECT_GE(file.header.samples.counted, file.samples.size() * file.header.samples.own_period * 9 / 10);
}

// As a tenth more or less is drawn for each thread, no program is in step with all threads: an eighth of the samples
// may have been taken in the wrong function, but not all.
TEST_F(Sampling, WhatIsInStepWithOneThreadIsNotWithOthers)
{
    PLAY_OR_SKIP("in_step");
    std::set<std::uint64_t> periods;
    double here = 0, there = 0;
    for (const auto& [name, file] : files) {
        const spool::SampleFormat& format = file.header.samples;
        periods.insert(format.own_period);
        EXPECT_NEAR(static_cast<double>(format.own_period), static_cast<double>(format.period),
                    0.1 * static_cast<double>(format.period) + 1);
        EXPECT_EQ(format.first_period == 0, file.header.thread == 0) << name;
        EXPECT_LE(format.first_period, format.own_period);
        std::uint64_t before = 0;
        std::vector<double> counts;
        for (const Sample& sample : file.samples) {
            const auto counted = static_cast<double>(sample.values.front() - before);
            before = sample.values.front();
            here += inside("burning", sample.ip) ? counted : 0;
            there += inside("other", sample.ip) ? counted : 0;
            counts.push_back(counted);
        }
        const auto own = static_cast<double>(format.own_period);
        if (counts.size() > 100) {
            // By their end all threads have been without the processor for long enough that the helper had it. One
            // sample alone may come late, where others want the processor; so the next one counts less.
            const auto last = counts.end() - 50, middle = counts.end() - 25;
            std::nth_element(last, middle, counts.end());
            EXPECT_NEAR(*middle, own, 0.25 * own) << name << ": any part of it is that of the first ones only";
        }
    }
    EXPECT_EQ(periods.size(), files.size());
    EXPECT_NEAR(here / (here + there), 0.3, 0.15);
}

TEST(Periods, OfThreadsAreEvenlySpreadOverATenthOfTheirs)
{
    constexpr std::uint64_t period = 5'025'125;
    constexpr int draws = 20'000;
    double sum = 0, squares = 0;
    for (std::uint64_t random = 0; random < draws; ++random) {
        const std::uint64_t own = sampling::varied(period, random);
        ASSERT_EQ(own % 2, 1U);
        const double off = (static_cast<double>(own) - period) / period;
        ASSERT_LE(std::abs(off), 0.1 + 1e-6);
        sum += off;
        squares += off * off;
    }
    // Even over [-0.1, 0.1]: the mean is 0, the variance 0.01 / 3; five standard deviations of what is drawn.
    EXPECT_NEAR(sum / draws, 0, 5 * 0.1 / std::sqrt(3.0 * draws));
    EXPECT_NEAR(squares / draws, 0.01 / 3, 5 * 0.01 * std::sqrt(4.0 / 45 / draws));
    EXPECT_GT(sampling::varied(1, 3), 0U);
}

TEST(Periods, TheFirstOneIsAnyPart)
{
    constexpr std::uint64_t period = 6'711'410;
    constexpr int draws = 20'000;
    double sum = 0, squares = 0;
    for (std::uint64_t random = 0; random < draws; ++random) {
        const std::uint64_t part = sampling::any_part(period, random);
        ASSERT_GE(part, period / 256);
        ASSERT_LE(part, period);
        const double share = static_cast<double>(part) / period;
        sum += share;
        squares += share * share;
    }
    // Even over (0, 1]; five standard deviations of what is drawn, and what the least part adds.
    EXPECT_NEAR(sum / draws, 0.5, 5 * std::sqrt(1.0 / 12 / draws) + 1e-4);
    EXPECT_NEAR(squares / draws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / draws) + 1e-4);
    EXPECT_EQ(sampling::any_part(1, 5), 1U);
}

TEST_F(Sampling, SamplesCarryTheClockAndTheThreadOfTheEvents)
{
    PLAY_OR_SKIP("main_thread");
    const File& file = files["7.0.samples"];
    std::uint64_t last = file.header.thread_start;
    for (const Sample& sample : file.samples) {
        ASSERT_GE(sample.time, last);
        ASSERT_EQ(sample.tid, file.header.tid);
        ASSERT_GT(sample.period, 0);
        last = sample.time;
    }
    EXPECT_LE(last, file.header.thread_end);
}

TEST_F(Sampling, LeavesAndCallersAreThoseOfTheWork)
{
    PLAY_OR_SKIP("main_thread");
    expect_callers_of_work(files["7.0.samples"]);
}

TEST_F(Sampling, KeepsSamplesFromBeforeTheFilesAreOpen)
{
    PLAY_OR_SKIP("before_files");
    expect_samples_match(files["7.0.samples"], facts["cpu"]);
    EXPECT_TRUE(files["7.0.samples"].whole);
    EXPECT_EQ(files["7.0.samples"].header.records, files["7.0.samples"].records);
}

TEST_F(Sampling, LeavesNothingIfTheFilesNeverOpen)
{
    ASSERT_NO_FATAL_FAILURE(play("never_opened"));
    EXPECT_TRUE(files.empty());
}

TEST_F(Sampling, GivesEachThreadItsFile)
{
    PLAY_OR_SKIP("threads");
    ASSERT_EQ(files.size(), 4);
    for (int thread = 0; thread < 4; ++thread) {
        const File& file = files["7." + std::to_string(thread) + ".samples"];
        EXPECT_EQ(file.header.thread, thread);
        EXPECT_EQ(file.header.closed, 1);
        EXPECT_EQ(std::string(file.header.thread_name),
                  thread > 0 ? "thread " + std::to_string(thread) : std::string("sampling_subjec"));
        if (thread > 0) {
            expect_samples_match(file, facts["cpu_of"][static_cast<std::size_t>(thread)]);
        }
        EXPECT_TRUE(std::all_of(file.samples.begin(), file.samples.end(),
                                [&file](const Sample& sample) { return sample.tid == file.header.tid; }));
    }
}

TEST_F(Sampling, WithoutAHelperTheFirstSamplesAreKeptAndTheRestIsCounted)
{
    PLAY_OR_SKIP("alone");
    EXPECT_EQ(facts["tasks"], 1);
    EXPECT_EQ(facts["tasks_helped"], 2);
    const File& file = files["7.0.samples"];
    EXPECT_GT(file.samples.size(), 100);
    EXPECT_GT(file.header.lost, 0);
    // The threads kept their first periods to the end, so that samples came and were lost often; that counts for as
    // many as they should have had. Switches are lost with them, and are no samples.
    for (std::size_t thread = 1; thread <= 4; ++thread) {
        const File& short_period = files["7." + std::to_string(thread) + ".samples"];
        EXPECT_GT(short_period.samples.size(), 0);
        EXPECT_LE(short_period.header.lost, 1 + 1.3 * samples_in(facts["cpu_of"][thread - 1]));
    }
}

TEST_F(Sampling, ManyShortThreadsOneAfterTheOther)
{
    PLAY_OR_SKIP("many_threads");
    EXPECT_EQ(files.size(), 201);
    EXPECT_TRUE(std::all_of(files.begin(), files.end(), [](const auto& file) {
        return file.second.header.closed == 1 && file.second.header.samples.why_not == 0;
    }));
}

TEST_F(Sampling, FinishEndsThreadsThatStillRun)
{
    PLAY_OR_SKIP("unstopped_threads");
    ASSERT_EQ(files.size(), 4);
    for (const auto& [name, file] : files) {
        EXPECT_EQ(file.header.closed, 1) << name;
        EXPECT_GT(file.header.thread_end, file.header.thread_start) << name;
    }
}

TEST_F(Sampling, LeavesTheApplicationsSignalsAlone)
{
    PLAY_OR_SKIP("signals");
    EXPECT_EQ(facts["errno"], ERANGE);
    EXPECT_EQ(facts["mask_kept"], true);
    EXPECT_EQ(facts["pending"], false);
    EXPECT_GE(facts["profiling_signals"], 10);
    expect_samples_match(files["7.0.samples"], facts["cpu"]);
}

TEST_F(Sampling, CallsMayBeRepeated)
{
    PLAY_OR_SKIP("twice");
    ASSERT_EQ(files.size(), 1);
    expect_samples_match(files["7.0.samples"], facts["cpu"]);
}

TEST_F(Sampling, HelperSleepsThroughManySamples)
{
    PLAY_OR_SKIP("wakes");
    expect_samples_match(files["7.0.samples"], facts["cpu"]);
    EXPECT_GT(facts["wakes"], 0);
    EXPECT_LT(facts["wakes"].get<std::size_t>(), files["7.0.samples"].samples.size() / 10);
}

}  // namespace
}  // namespace critpath::test

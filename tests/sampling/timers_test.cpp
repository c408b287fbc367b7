// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sampling by timers of the threads' processor time: the times add up to what the threads used, and the application
// sees nothing of the signal.
#include "tests/sampling/played.hpp"

#include <cmath>

namespace critpath::test
{
namespace
{

class Timers : public Sampling
{
protected:
    void play_timed(const std::string& scenario) { play(scenario, "timer"); }
};

#define PLAY_TIMED(scenario)                                                                                           \
    ASSERT_NO_FATAL_FAILURE(play_timed(scenario));                                                                     \
    if (IsSkipped())                                                                                                   \
        return;                                                                                                        \
    if (facts.at("refused").get<int>() == EBUSY || facts.at("refused").get<int>() == ENXIO)                            \
    GTEST_SKIP() << "this machine has no such timers: " << reason()

TEST_F(Timers, TheirPeriodsAreTheProcessorsTime)
{
    PLAY_TIMED("main_thread");
    const File& file = files["7.0.samples"];
    EXPECT_STREQ(file.header.samples.event, "cpu-timer");
    EXPECT_EQ(file.header.samples.kernel, 1);
    EXPECT_EQ(file.header.closed, 1);
    EXPECT_EQ(file.header.lost, 0);
    EXPECT_TRUE(file.whole);
    EXPECT_TRUE(file.switches.empty());
    EXPECT_NE(file.header.samples.period % 1000, 0);
    expect_time_matches(file, facts["cpu"]);
    EXPECT_LE(file.header.samples.counted, file.header.thread_end - file.header.thread_start);
    std::uint64_t last = file.header.thread_start;
    for (const Sample& sample : file.samples) {
        ASSERT_GE(sample.time, last);
        ASSERT_EQ(sample.tid, file.header.tid);
        ASSERT_EQ(sample.pid, file.header.pid != 0 ? file.header.pid : sample.pid);
        ASSERT_EQ(sample.period % file.header.samples.own_period, 0);
        ASSERT_EQ(sample.values.size(), 2);
        last = sample.time;
    }
    EXPECT_LE(last, file.header.thread_end);
}

TEST_F(Timers, LeavesAndCallersAreThoseOfTheWork)
{
    PLAY_TIMED("main_thread");
    const File& file = files["7.0.samples"];
    expect_callers_of_work(file);
    for (const Sample& sample : file.samples) {
        ASSERT_FALSE(sample.chain.empty());
        EXPECT_EQ(sample.chain.front(), sample.ip);
        EXPECT_EQ(sample.stack_bytes, 256);
    }
}

TEST_F(Timers, ComeWhereEventsAreRefused)
{
    PLAY_TIMED("refused_but_timers");
    if (facts["refused"] == EACCES) {
        GTEST_SKIP() << "timers of this kernel may interrupt system calls";
    }
    EXPECT_EQ(facts["refused"], 0);
    EXPECT_EQ(facts["replaced"], EACCES);
    EXPECT_STREQ(files["7.0.samples"].header.samples.event, "cpu-timer");
    expect_time_matches(files["7.0.samples"], facts["cpu"]);
}

TEST_F(Timers, SharesAreThoseOfTheWork)
{
    PLAY_TIMED("shares");
    double here = 0, there = 0;
    for (const Sample& sample : files["7.0.samples"].samples) {
        here += inside("burning", sample.ip) ? static_cast<double>(sample.period) : 0;
        there += inside("other", sample.ip) ? static_cast<double>(sample.period) : 0;
    }
    // A quarter of 1 s. A sample for each tick: 250 at most, 100 at least, of which the last of each turn may slip into
    // the other function: five standard deviations of what were independent samples, and more is known.
    const double expected = facts["there"].get<double>() / (facts["here"].get<double>() + facts["there"].get<double>());
    EXPECT_NEAR(there / (here + there), expected, 5 * std::sqrt(expected * (1 - expected) / 100));
}

TEST_F(Timers, GiveEachThreadItsFile)
{
    PLAY_TIMED("threads");
    ASSERT_EQ(files.size(), 4);
    for (int thread = 1; thread < 4; ++thread) {
        const File& file = files["7." + std::to_string(thread) + ".samples"];
        EXPECT_EQ(file.header.closed, 1);
        EXPECT_EQ(file.header.samples.timer_stopped, 0);
        expect_time_matches(file, facts["cpu_of"][static_cast<std::size_t>(thread)]);
        EXPECT_TRUE(std::all_of(file.samples.begin(), file.samples.end(),
                                [&file](const Sample& sample) { return sample.tid == file.header.tid; }));
    }
}

TEST_F(Timers, KeepSamplesFromBeforeTheFilesAreOpen)
{
    PLAY_TIMED("before_files");
    expect_time_matches(files["7.0.samples"], facts["cpu"]);
}

TEST_F(Timers, EndWithThreadsThatStillRun)
{
    PLAY_TIMED("unstopped_threads");
    ASSERT_EQ(files.size(), 4);
    for (const auto& [name, file] : files) {
        EXPECT_EQ(file.header.closed, 1) << name;
        EXPECT_TRUE(file.whole) << name;
    }
}

TEST_F(Timers, AThousandThreadsInTurn)
{
    PLAY_TIMED("thread_storm");
    EXPECT_EQ(files.size(), 1001);
    EXPECT_TRUE(std::all_of(files.begin(), files.end(), [](const auto& file) {
        return file.second.header.closed == 1 && file.second.header.samples.why_not == 0 && file.second.whole;
    }));
}

TEST_F(Timers, DoNotOutliveTheApplicationsThreads)
{
    PLAY_TIMED("main_thread_ends");
    EXPECT_EQ(files["7.0.samples"].header.closed, 1);
}

TEST_F(Timers, WithoutCallersThereAreNone)
{
    PLAY_TIMED("without_callers");
    const File& file = files["7.0.samples"];
    EXPECT_EQ(file.header.samples.stack_bytes, 0);
    expect_time_matches(file, facts["cpu"]);
    std::size_t leaves = 0;
    for (const Sample& sample : file.samples) {
        leaves += inside("burning", sample.ip);
        ASSERT_EQ(sample.registers.size(), 1);
        EXPECT_EQ(sample.registers.front(), sample.ip);
    }
    EXPECT_GE(leaves, file.samples.size() * 9 / 10);
}

TEST_F(Timers, CopiesOfTheStackEndWhereTheStackDoes)
{
    PLAY_TIMED("stack_copies");
    const File& file = files["7.0.samples"];
    expect_time_matches(file, facts["cpu"]);
    EXPECT_TRUE(file.whole);
    for (const Sample& sample : file.samples) {
        EXPECT_GT(sample.stack_bytes, 256);
        EXPECT_LE(sample.stack_bytes, spool::StackImage::usual_copy);
    }
}

TEST_F(Timers, LeaveTheApplicationsSignalsAlone)
{
    PLAY_TIMED("signals");
    EXPECT_EQ(facts["errno"], ERANGE);
    EXPECT_EQ(facts["mask_kept"], true);
    EXPECT_EQ(facts["pending"], false);
    EXPECT_GE(facts["profiling_signals"], 10);
    expect_time_matches(files["7.0.samples"], facts["cpu"]);
}

TEST_F(Timers, UseNoSignalThatAnApplicationCanHandleOrWaitFor)
{
    PLAY_TIMED("own_signals");
    EXPECT_EQ(facts["handled_before"], 0);
    EXPECT_EQ(facts["own"], facts["sent"]);
    EXPECT_EQ(facts["strange"], 0);
    EXPECT_EQ(facts["waited_for"], -1);
    EXPECT_EQ(facts["errno"], EAGAIN);
    EXPECT_EQ(facts["pending"], false);
    expect_time_matches(files["7.0.samples"], facts["cpu"]);
}

TEST_F(Timers, WhatIsHeldBackIsCountedButHasNoSamples)
{
    PLAY_TIMED("held_back");
    const File& file = files["7.0.samples"];
    const double cpu = facts["cpu"];
    EXPECT_NEAR(static_cast<double>(file.header.samples.counted), cpu, 0.1 * cpu + 40e6);
    EXPECT_LE(static_cast<double>(sampled_ns(file)), cpu - 300e6);
    EXPECT_TRUE(std::none_of(file.samples.begin(), file.samples.end(),
                             [this](const Sample& sample) { return inside("other", sample.ip); }));
}

TEST_F(Timers, InterruptNoCall)
{
    PLAY_TIMED("sleeper");
    EXPECT_EQ(facts["interrupted"], 0);
    EXPECT_GT(files["7.0.samples"].samples.size(), 10);
}

TEST_F(Timers, WorkOnEveryStack)
{
    PLAY_TIMED("stacks");
    for (int thread = 1; thread <= 2; ++thread) {
        const File& file = files["7." + std::to_string(thread) + ".samples"];
        expect_time_matches(file, facts["cpu_of"][static_cast<std::size_t>(thread)]);
        EXPECT_TRUE(std::all_of(file.samples.begin(), file.samples.end(), [this](const Sample& sample) {
            return !inside("burning", sample.ip) || sample.chain.size() > 2;
        }));
    }
}

TEST_F(Timers, LeaveThreadsAloneWhoseStackForSignalsIsTooSmall)
{
    PLAY_TIMED("small_stacks");
    if (facts["taken"] == false)
        GTEST_SKIP() << "the kernel refuses small stacks for signals";
    EXPECT_LE(files["7.1.samples"].samples.size(), 0U);
    EXPECT_LE(files["7.2.samples"].samples.size(), 1U);  // before it had that stack
    expect_time_matches(files["7.0.samples"], facts["cpu"]);
    EXPECT_EQ(files["7.0.samples"].header.samples.timer_stopped, 0);
    EXPECT_EQ(files["7.1.samples"].header.samples.timer_stopped, 1);
    EXPECT_EQ(files["7.2.samples"].header.samples.timer_stopped, 1);
}

TEST_F(Timers, LeaveErrnoAlone)
{
    PLAY_TIMED("errno");
    EXPECT_EQ(facts["changed"], 0);
    EXPECT_GT(files["7.0.samples"].samples.size(), 5);
}

TEST_F(Timers, GiveTheSignalBackToThreadsThatAreCancelled)
{
    PLAY_TIMED("cancel");
    EXPECT_EQ(facts["cancelled"], true);
    expect_time_matches(files["7.0.samples"], facts["cpu"]);
    EXPECT_EQ(files["7.0.samples"].header.samples.timer_stopped, 1);
    EXPECT_EQ(files["7.1.samples"].header.samples.why_not, EBUSY);
}

TEST_F(Timers, LeaveASignalThatIsTakenToItsOwner)
{
    ASSERT_NO_FATAL_FAILURE(play_timed("taken_before"));
    EXPECT_EQ(facts["refused"], EBUSY);
    EXPECT_THAT(reason(), testing::HasSubstr("taken"));
    EXPECT_EQ(files["7.0.samples"].header.samples.why_not, EBUSY);
}

TEST_F(Timers, EndInTheChildOfAFork)
{
    PLAY_TIMED("fork");
    EXPECT_EQ(facts["child"], 23);
    ASSERT_EQ(files.size(), 1);
    expect_time_matches(files["7.0.samples"], facts["cpu"].get<std::uint64_t>() + 100'000'000);
}

TEST_F(Timers, DoNotReachOtherPrograms)
{
    PLAY_TIMED("starts_others");
    EXPECT_EQ(facts["failed"], 0);
    expect_time_matches(files["7.0.samples"], facts["cpu"]);
}

TEST_F(Timers, WhatAProgramLeavesThatBecomesAnotherIsWhole)
{
    PLAY_TIMED("exec");
    EXPECT_TRUE(files["7.0.samples"].whole);
    EXPECT_EQ(files["7.0.samples"].header.closed, 0);
}

TEST_F(Timers, PauseWithTheRecording)
{
    PLAY_TIMED("pauses");
    const File& file = files["7.0.samples"];
    expect_time_matches(file, facts["cpu"]);
    const auto elsewhere = std::count_if(file.samples.begin(), file.samples.end(),
                                         [this](const Sample& sample) { return inside("other", sample.ip); });
    EXPECT_EQ(elsewhere, 0);
}

TEST_F(Timers, ClosedDescriptorsDoNoHarm)
{
    PLAY_TIMED("closed_descriptors");
    EXPECT_TRUE(files["7.0.samples"].whole);
    EXPECT_EQ(files["7.0.samples"].header.closed, 1);
    expect_time_matches(files["7.0.samples"], facts["cpu"]);
    EXPECT_FALSE(facts["lost_events"].get<bool>());
}

}  // namespace
}  // namespace critpath::test

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of a path that waits for the other threads of its process, where one of them lacks a processor.
#include "tests/rules/two_threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::tests
{
namespace
{

TEST_F(TwoThreads, WhoIsWaitedForMayLackAProcessor)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp);  // its caller is not known
    const ContextId loop = functions_.add("loop", "/bin/app");
    for (int t = 100; t <= 300; t += 100)
        sample(0, t - 1, main, 100);
    thread(0).off = {{from_us(300), from_us(700), false}};
    for (int t = 800; t <= 1000; t += 100)
        sample(0, t - 1, spin, 100);
    sample(1, 400, loop, 100);
    thread(1).off = {{from_us(410), from_us(900), true}};
    const Replayed r = run();
    EXPECT_EQ(r.path_us("main2"), 300);
    EXPECT_EQ(r.path_us("loop"), 100);
    EXPECT_EQ(r.path_us("[blocked]"), 10);
    EXPECT_EQ(r.path_us("[waiting for threads]"), 100);
    // It lacks one where it works, not where it is waited for, be it by who is blocked or by who spins.
    EXPECT_THAT(r.call_paths(), testing::HasSubstr("loop;[preempted]: 490"));
    EXPECT_THAT(r.all_call_paths(), testing::HasSubstr("loop;[preempted]: 490"));
    EXPECT_EQ(threads(r), "410, 590");
}

// On its processor, it had no time for work in which the other lacked one.
TEST_F(TwoThreads, WhoSpinsWaitsUntilTheOtherHasAProcessorAgain)
{
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp);
    const ContextId loop = functions_.add("loop", "/bin/app");
    for (int t = 100; t <= 1000; t += 100)
        sample(0, t - 1, spin, 100);
    for (const int t : {100, 200, 650, 750, 850, 950})
        sample(1, t, loop, 100);
    thread(1).off = {{from_us(200), from_us(550), true}};
    const Replayed r = run();
    EXPECT_EQ(r.path_us("[preempted]"), 350);
    EXPECT_EQ(r.path_us("loop"), 200 + 450);
    EXPECT_EQ(r.path_us("[waiting for threads]"), 0);
}

// Both lack a processor now and then: what one lacks while the other has none is no time of spinning.
TEST_F(TwoThreads, WhatIsLackedWhileNobodySpinsIsNotWaitedForBySpinning)
{
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp);
    const ContextId loop = functions_.add("loop", "/bin/app");
    thread(0).off = {{from_us(100), from_us(500), true}};
    thread(1).off = {{from_us(400), from_us(600), true}};
    sample(0, 90, spin, 90);
    for (int t = 600; t <= 1000; t += 100)
        sample(0, t - 1, spin, 100);
    for (const int t : {50, 150, 250, 350, 650, 750, 850, 950})
        sample(1, t, loop, 100);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("[preempted]"), 200);
    EXPECT_EQ(r.path_us("loop"), 90 + 300 + 400);
}

TEST_F(TwoThreads, WhoLacksAProcessorIsWhereItWorkedAndNotWhereItCameToWait)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp);
    const ContextId loop = functions_.add("loop", "/bin/app");
    sample(0, 299, main, 300);
    thread(0).off = {{from_us(300), from_us(1000), false}};
    sample(1, 300, loop, 100);
    thread(1).off = {{from_us(400), from_us(900), true}};
    sample(1, 905, spin, 100);
    const Replayed r = run();
    EXPECT_THAT(r.call_paths(), testing::HasSubstr("loop;[preempted]: 500"));
    EXPECT_THAT(r.all_call_paths(), testing::HasSubstr("loop;[preempted]: 500"));
}

// It has no processor for a while, and has to wait for the other one after that, too.
TEST_F(TwoThreads, WhoSpinsAfterALackOfAProcessorHasMissedNothing)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp, main);
    const ContextId loop = functions_.add("loop", "/bin/app");
    for (int t = 100; t <= 300; t += 100)
        sample(0, t - 1, main, 100);
    thread(0).off = {{from_us(300), from_us(700), true}};
    for (int t = 800; t <= 1000; t += 100)
        sample(0, t - 1, spin, 100);
    for (int t = 400; t <= 800; t += 100)
        sample(1, t, loop, 100);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("main2"), 300);
    EXPECT_EQ(r.path_us("loop"), 400 + 200);
    EXPECT_EQ(r.path_us("[preempted]"), 0);
    EXPECT_EQ(r.path_us("[waiting for threads]"), 100);
    EXPECT_EQ(threads(r), "400, 600");
}

// As far as the other one works.
TEST_F(TwoThreads, WhoSpinsAfterALackOfAProcessorMayHaveBeenTheLast)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp, main);
    const ContextId loop = functions_.add("loop", "/bin/app");
    sample(0, 299, main, 299);
    thread(0).off = {{from_us(300), from_us(900), true}};
    sample(0, 999, spin, 100);
    sample(1, 400, loop, 100);
    sample(1, 500, spin, 100);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("loop"), 100);
    EXPECT_EQ(r.path_us("[preempted]"), 500);
}

TEST_F(TwoThreads, WhoWorksAfterALackOfAProcessorHasMissedThatTime)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId loop = functions_.add("loop", "/bin/app");
    sample(0, 299, main, 299);
    thread(0).off = {{from_us(300), from_us(900), true}};
    sample(0, 999, main, 100);
    for (int t = 400; t <= 1000; t += 100)
        sample(1, t, loop, 100);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("loop"), 0);
    EXPECT_EQ(r.path_us("[preempted]"), 600);
}

TEST_F(TwoThreads, WhereItWorkedBeforeACallItIsNoMore)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp);
    add_calls({{500, 510}});
    sample(0, 499, main, 499);
    thread(0).off = {{from_us(512), from_us(518), true}};
    sample(0, 519, spin, 1);
    const Replayed r = run();
    EXPECT_THAT(r.call_paths(), testing::HasSubstr("gomp_barrier_wait;[preempted]: 6"));
    EXPECT_THAT(r.all_call_paths(), testing::HasSubstr("gomp_barrier_wait;[preempted]: 6"));
}

TEST_F(TwoThreads, OfSeveralWhoLackAProcessorEachHasItsPart)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId loop = functions_.add("loop", "/bin/app");
    const ContextId other = functions_.add("other", "/bin/app");
    add_thread();
    sample(0, 299, main, 300);
    thread(0).off = {{from_us(300), from_us(1000), false}};
    sample(1, 300, loop, 100);
    thread(1).off = {{from_us(310), from_us(910), true}};
    sample(2, 300, other, 100);
    thread(2).off = {{from_us(310), from_us(710), true}, {from_us(750), from_us(850), true}};
    const Replayed r = run();
    // 700 us by 600 and 500.
    EXPECT_EQ(r.call_paths(), "loop;[preempted]: 381 | main2: 300 | other;[preempted]: 318");
    EXPECT_EQ(threads(r), "300, 381, 318");
}

}  // namespace
}  // namespace critpath::tests

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of a path that waits for the other threads of its process, if only samples tell that it does.
#include "replayer/attribute/sampled_code.hpp"
#include "tests/rules/two_threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::tests
{
namespace
{

using Words = std::map<std::string, std::string>;

TEST(SampledCode, WaitsInTheLibrariesOfOpenMPAndNotInTheLoopsThatTheyCall)
{
    model::Definitions definitions;
    Functions functions(definitions);
    const ContextId main = functions.add("main", "/bin/app");
    const ContextId barrier = functions.add("gomp_barrier_wait", gomp, main);
    const ContextId yield = functions.add("sched_yield", libc, barrier);
    const ContextId loop = functions.add("main._omp_fn.0", "/bin/app", barrier);
    const ContextId copy = functions.add("memcpy", libc, loop);
    const ContextId sleep = functions.add("nanosleep", libc);
    const ContextId other = functions.add("__kmp_wait", "/opt/llvm/libomp.so.5", main);
    const ContextId linked = functions.add("gomp_team_barrier_wait", "/bin/app", main);
    const ContextId named = functions.add("omp_solver", "/bin/app", main);
    const replayer::SampledCode code(definitions);
    EXPECT_TRUE(code.waits_for_team(barrier) && code.waits_for_team(yield) && code.waits_for_team(other) &&
                code.waits_for_team(linked));
    EXPECT_FALSE(code.waits_for_team(named) || code.waits_for_team(main) || code.waits_for_team(loop) ||
                 code.waits_for_team(copy) || code.waits_for_team(sleep));
    EXPECT_EQ(code.waiter(yield), main);
}

TEST_F(TwoThreads, WhoSpinsWaitsForTheWorkOfTheOther)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp, main);
    const ContextId loop = functions_.add("loop", "/bin/app");
    for (int t = 100; t <= 1000; t += 100) {
        sample(0, t - 1, t <= 300 ? main : spin, 100);
        sample(1, t - 40, t <= 800 ? loop : spin, 100);
    }
    counts(0, 60);
    counts(1, 700);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("main2"), 300);
    // Who spins at 899 has a period in which to have missed work: since 799. The last of that was seen at 760.
    EXPECT_EQ(r.path_us("loop"), 500);
    EXPECT_EQ(r.path_us("[waiting for threads]"), 200);
    EXPECT_EQ(r.path_us("gomp_barrier_wait"), 0);
    EXPECT_EQ(r.total_us("[waiting for threads]"), 900);
    EXPECT_EQ(r.total_us("loop"), 800);
    const division::ThreadTimes times =
        division::time_of_threads(r.profile, {r.segments, r.attributions}, {0, r.fact("makespan_ns")});
    ASSERT_EQ(times.given.size(), 1U);
    const division::GivenTime& given = times.given.front();
    EXPECT_EQ(std::tuple(given.from, given.to, given.ns, given.of_ns, given.samples),
              std::tuple(0U, 1U, 500'000, 1'000'000, 10U));
    // One a period of the path, however many threads have samples in it.
    EXPECT_EQ(r.fact("independent_samples"), 10);
    // What is waited for counts as its time does: five samples of the loop. Spinning counts nothing.
    EXPECT_EQ(
        counted(r),
        (Words{{"main2", "180 of 299, 299"}, {"loop", "3500 of 500, 500"}, {"[waiting for threads]", "0 of 201, 0"}}));
}

TEST_F(TwoThreads, WhoIsBlockedWaitsForTheWorkOfTheOtherAsFarAsThatGoes)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId loop = functions_.add("loop", "/bin/app");
    for (int t = 100; t <= 300; t += 100)
        sample(0, t - 1, main, 100);
    thread(0).off = {{from_us(300), from_us(1000), false}};
    for (int t = 400; t <= 800; t += 100)
        sample(1, t, loop, 100);
    counts(0, 60);
    counts(1, 700);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("main2"), 300);
    EXPECT_EQ(r.path_us("loop"), 500);
    EXPECT_EQ(r.path_us("[blocked]"), 200);
    EXPECT_EQ(r.path_us("[not sampled]"), 0);
    EXPECT_EQ(r.fact("independent_samples"), 3 + 5);
    EXPECT_EQ(counted(r), (Words{{"main2", "180 of 300, 299"}, {"loop", "3500 of 500, 500"}}));
}

// Three threads compute what the path waits for: it has their mean, and their counts in the same proportion.
TEST_F(TwoThreads, CountsOfATeamAreThoseOfItsMeanThread)
{
    for (std::uint32_t i = 2; i <= 3; ++i) {
        model::LocationTrace more;
        more.location = {i};
        more.end = from_us(1000);
        replay_.definitions.locations.push_back({"another", {0}, i, 0});
        replay_.definitions.processes[0].locations.push_back({i});
        replay_.processes[0].locations.push_back(more);
    }
    const auto calls = static_cast<std::uint32_t>(thread(0).calls.size());
    replay_.processes[0].numbers = model::CallNumbers({0}, {0, calls});
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp);
    const ContextId loop = functions_.add("loop", "/bin/app");
    for (int t = 100; t <= 1000; t += 100) {
        sample(0, t - 1, spin, 100);
        for (std::size_t i = 1; i <= 3; ++i)
            sample(i, t - 20, loop, 100);
    }
    counts(0, 60);
    counts(1, model::unknown_count);
    counts(2, 200);
    counts(3, 900);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("loop"), 1000);
    const model::EventCount& e = r.profile.path_events.front();
    EXPECT_EQ(r.profile.row(e.call_path).name, "loop");
    EXPECT_EQ(r.profile.path_events.size(), 1U);
    EXPECT_EQ(e.ns, 1'000'000);
    EXPECT_NEAR(static_cast<double>(e.known_ns), 2e6 / 3, 60);
    EXPECT_NEAR(static_cast<double>(e.count), 10 * (200 + 900) / 3.0, 60);  // parts of few are rounded
}

TEST_F(TwoThreads, WorkOfAnotherIsNotThePathsWhileThePathWorks)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId loop = functions_.add("loop", "/bin/app");
    for (int t = 100; t <= 1000; t += 100) {
        sample(0, t - 1, main, 100);
        sample(1, t - 1, loop, 100);
    }
    thread(0).off = {{from_us(1), from_us(2), true}};
    const Replayed r = run();
    EXPECT_EQ(r.path_us("loop"), 0);
    EXPECT_EQ(r.path_us("[preempted]"), 1);
}

// The sample of one is no time of the other.
TEST_F(TwoThreads, OfSeveralThatWorkNobodyWorksLongerThanOnAProcessor)
{
    add_thread();
    const auto calls = static_cast<std::uint32_t>(thread(0).calls.size());
    replay_.processes[0].numbers = model::CallNumbers({0}, {0, calls});
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId loop = functions_.add("loop", "/bin/app");
    const ContextId other = functions_.add("other", "/bin/app");
    sample(0, 99, main, 99);
    thread(0).off = {{from_us(100), from_us(900), false}};
    sample(0, 999, main, 100);
    sample(1, 105, loop, 400);
    thread(1).off = {{from_us(110), from_us(890), false}};
    sample(2, 400, other, 390);
    sample(2, 790, other, 390);
    thread(2).off = {{from_us(880), from_us(890), false}};
    const Replayed r = run();
    EXPECT_EQ(r.path_us("loop"), 20);  // of 800, with 780 of the other
    EXPECT_EQ(r.path_us("other"), 780);
}

// Two samples at one time, and one while there was no processor: nothing has time twice.
TEST_F(TwoThreads, SamplesOfDamagedRecordsHaveNoTimeTwice)
{
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp);
    const ContextId loop = functions_.add("loop", "/bin/app");
    sample(1, 50, loop, 50);
    thread(1).off = {{from_us(60), from_us(1000), true}};
    sample(0, 100, spin, 100);
    sample(0, 200, spin, 100);
    sample(0, 200, spin, 100);
    thread(0).off = {{from_us(350), from_us(600), true}};
    sample(0, 500, spin, 300);
    sample(0, 999, spin, 400);
    const Replayed r = run();
    for (const model::CallPathTime& time : r.profile.path)
        EXPECT_GE(time.ns, 0) << r.profile.row(time.call_path).name;
    EXPECT_GE(r.path_us("[preempted]"), 900);
}

TEST_F(TwoThreads, NobodyWorksLongerThanOnAProcessor)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId loop = functions_.add("loop", "/bin/app");
    sample(0, 299, main, 299);
    thread(0).off = {{from_us(300), from_us(700), false}};
    sample(0, 999, main, 300);
    sample(1, 400, loop, 350);
    thread(1).off = {{from_us(400), from_us(600), true}};
    const Replayed r = run();
    EXPECT_EQ(r.path_us("loop"), 200);
    EXPECT_EQ(r.path_us("[preempted]"), 200);
    EXPECT_EQ(r.path_us("[blocked]"), 0);
}

TEST_F(TwoThreads, WhoIsBlockedForLessThanAPeriodHasWhatSamplesInOtherWaitsLeave)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId loop = functions_.add("loop", "/bin/app");
    for (std::int64_t t = 0; t < 1000; t += 100) {  // by turns, 50 us each
        sample(0, t + 25, main, 50);
        thread(0).off.push_back({from_us(t + 50), from_us(t + 100), false});
        thread(1).off.push_back({from_us(t), from_us(t + 50), false});
        if (t % 200 == 0)
            sample(1, t + 75, loop, 100);
    }
    counts(0, 60);
    counts(1, 700);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("main2"), 500);
    EXPECT_EQ(r.path_us("loop"), 450);
    EXPECT_EQ(r.path_us("[blocked]"), 50) << "no sample comes behind it";
    EXPECT_EQ(r.fact("independent_samples"), 10 + 5);
    EXPECT_EQ(counted(r), (Words{{"main2", "600 of 500, 475"}, {"loop", "3150 of 450, 450"}}));
}

TEST_F(TwoThreads, WhatSamplesStandForReachesBeyondTheirSegments)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp, main);
    const ContextId loop = functions_.add("loop", "/bin/app");
    // The path spins for a third of the time, in segments that are shorter than the time between samples.
    std::vector<std::pair<int, int>> calls;
    for (int t = 10; t < 1000; t += 10)
        calls.emplace_back(t, t + 1);
    add_calls(calls);
    for (int t = 105; t < 1000; t += 100)
        sample(0, t, t % 300 == 5 ? spin : main, 100);
    for (int t = 102; t < 1000; t += 100)
        sample(1, t, loop, 100);
    const Replayed r = run();
    const std::int64_t path = r.path_us("main2") + r.path_us("loop");
    EXPECT_NEAR(static_cast<double>(r.path_us("loop")), static_cast<double>(path) / 3, 3);
    EXPECT_EQ(threads(r), fmt::format("{}, {}", 1000 - r.path_us("loop"), r.path_us("loop")));
}

/// Two loops by turns, each between two other calls of MPI: of one is no sample for long.
TEST_F(TwoThreads, WhatSamplesLeaveIsForWaitsBetweenTheSameCalls)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId assemble = functions_.add("assemble", "/bin/app");
    const ContextId smooth = functions_.add("smooth", "/bin/app");
    add_calls_of_two_kinds();
    for (std::int64_t t = 100; t < 900; t += 100) {
        sample(0, t + 15, main, 40);
        thread(0).off.push_back({from_us(t + 20), from_us(t + 80), false});
    }
    sample(1, 150, assemble, 400);
    sample(1, 250, smooth, 90);
    sample(1, 990, assemble, 100);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("assemble"), 4 * 60);
    EXPECT_EQ(r.path_us("smooth"), 60 + 30);
    EXPECT_EQ(r.path_us("[blocked]"), 2 * 60 + 30);
}

TEST_F(TwoThreads, WhoSpinsWaitsForWhatIsDoneBetweenTheSameCalls)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp, main);
    const ContextId assemble = functions_.add("assemble", "/bin/app");
    const ContextId smooth = functions_.add("smooth", "/bin/app");
    add_calls_of_two_kinds();
    for (const std::int64_t t : {250, 450, 650, 750})
        sample(0, t, spin, 60);
    for (const std::int64_t t : {195, 280, 480, 700})
        sample(1, t, t == 195 || t == 700 ? assemble : smooth, 60);
    sample(1, 990, spin, 60);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("smooth"), 2 * 60) << "of these that at 195 is before the call";
    EXPECT_EQ(r.path_us("assemble"), 60) << "not for who spins at 650, before the call";
    EXPECT_EQ(r.path_us("[waiting for threads]"), 60);
}

TEST_F(TwoThreads, WhatSamplesLeaveIsForWaitsInWhichSomebodyWorks)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId loop = functions_.add("loop", "/bin/app");
    sample(0, 99, main, 100);
    thread(0).off = {
        {from_us(100), from_us(200), false}, {from_us(300), from_us(400), false}, {from_us(500), from_us(600), false}};
    sample(1, 150, loop, 400);
    thread(1).off = {{from_us(290), from_us(330), false}, {from_us(490), from_us(610), true}};
    sample(1, 900, loop, 400);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("loop"), 100 + 70);
    EXPECT_EQ(r.path_us("[blocked]"), 30);
    EXPECT_EQ(r.path_us("[preempted]"), 100);
}

TEST_F(TwoThreads, WhatSamplesLeaveIsNotForWaitsBeforeAThreadBegins)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId loop = functions_.add("loop", "/bin/app");
    sample(0, 99, main, 100);
    thread(0).off = {
        {from_us(600), from_us(700), false}, {from_us(700), from_us(800), false}, {from_us(800), from_us(900), false}};
    sample(1, 650, loop, 400);
    sample(1, 990, loop, 400);
    thread(1).begin = from_us(620);
    thread(1).end = from_us(1000);
    thread(1).off = {{from_us(720), from_us(800), false}};
    const Replayed r = run();
    EXPECT_EQ(r.path_us("loop"), 80 + 20 + 100);
    EXPECT_EQ(r.path_us("[blocked]"), 20 + 80);
}

/// Each wait is for a thread of its own, of which but one lives until it is sampled.
TEST_F(TwoThreads, WhatTheSampleOfAThreadLeavesIsForWaitsForOthersLikeIt)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId piece = functions_.add("piece", "/bin/app");
    sample(0, 99, main, 100);
    thread(0).off = {{from_us(100), from_us(200), false},
                     {from_us(300), from_us(400), false},
                     {from_us(500), from_us(600), false},
                     {from_us(700), from_us(800), false}};
    sample(1, 350, piece, 250);
    thread(1).begin = from_us(350);  // when it is first seen
    thread(1).end = from_us(390);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("piece"), 40 + 100 + 100);
    EXPECT_EQ(r.path_us("[blocked]"), 100 + 60) << "before it, and while it was not there";
}

/// Likewise, where it is known when the others lived: then it is theirs, and no more than that.
TEST_F(TwoThreads, WhatTheSampleOfAThreadLeavesIsOfThoseThatLiveInTheWait)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId piece = functions_.add("piece", "/bin/app");
    add_thread();
    add_thread();
    sample(0, 99, main, 100);
    thread(0).off = {
        {from_us(300), from_us(400), false}, {from_us(500), from_us(600), false}, {from_us(700), from_us(800), false}};
    sample(1, 350, piece, 250);
    const std::pair<std::int64_t, std::int64_t> lives[] = {{310, 390}, {510, 590}, {690, 790}};
    for (std::size_t i = 0; i < std::size(lives); ++i) {
        thread(i + 1).begin = from_us(lives[i].first);
        thread(i + 1).end = from_us(lives[i].second);
    }
    thread(3).off = {{from_us(690), from_us(740), true}};
    const Replayed r = run();
    EXPECT_EQ(r.path_us("piece"), 80 + 80 + 50);
    EXPECT_EQ(threads(r), "790, 80, 80, 50");
}

}  // namespace
}  // namespace critpath::tests

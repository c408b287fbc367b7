// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of a path that waits for the other threads of its process, if only samples tell that it does.
#include "analysis/division/threads.hpp"
#include "replayer/attribute/team.hpp"
#include "tests/builder/replayed.hpp"
#include "tests/rules/windows.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::tests
{
namespace
{

using model::ContextId;
using model::LocationId;
using model::Ns;

/// Contexts of one process, whose functions lie in binaries of these names.
class Functions
{
public:
    explicit Functions(model::Definitions& definitions) : definitions_(&definitions) {}

    ContextId add(const std::string& name, const std::string& module, ContextId parent = ContextId::none())
    {
        model::Region region;
        region.role = model::RegionRole::Sampled;
        region.name = name;
        region.module = module;
        definitions_->regions.push_back(region);
        const auto last = [](const auto& items) { return static_cast<std::uint32_t>(items.size() - 1); };
        definitions_->contexts.push_back({{last(definitions_->regions)}, parent});
        return {last(definitions_->contexts)};
    }

private:
    model::Definitions* definitions_;
};

constexpr const char* gomp = "/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0";
constexpr const char* libc = "/usr/lib/x86_64-linux-gnu/libc.so.6";

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

/// One rank of two threads, of which the first calls MPI and ends at 1000 us.
class TwoThreads : public ::testing::Test
{
protected:
    TwoThreads()
    {
        Program program(1);
        program[0].sample(1, "main", 0);
        program.finish(1000);
        replay_ = load(program, MPI_COMM_SELF, replayer::Rules::Arrival);
        add_thread();
        const auto calls = static_cast<std::uint32_t>(thread(0).calls.size());
        replay_.processes[0].numbers = model::CallNumbers({0}, {0, calls});
        thread(0).samples.clear();
    }

    model::LocationTrace& thread(std::size_t i) { return replay_.processes[0].locations[i]; }
    void sample(std::size_t i, std::int64_t time, ContextId context, std::int64_t weight)
    {
        thread(i).samples.push_back({from_us(time), context, 0, from_us(weight).count(), 0});
    }
    /// Of all samples of a thread.
    void counts(std::size_t i, std::int64_t each)
    {
        replay_.definitions.counted = {"instructions"};
        while (thread(i).sample_counts.size() < thread(i).samples.size())
            thread(i).sample_counts.push_back(std::array{each}, false);
    }
    /// One more thread, which does not call MPI.
    void add_thread()
    {
        auto& locations = replay_.definitions.processes[0].locations;
        const model::LocationId id{static_cast<std::uint32_t>(locations.size())};
        model::LocationTrace added;
        added.location = id;
        added.end = from_us(1000);
        replay_.definitions.locations.push_back({fmt::format("rank 0 thread {}", id.value), {0}, id.value, 0});
        locations.push_back(id);
        replay_.processes[0].locations.push_back(added);
    }

    /// Of the first thread, which only look whether something has come.
    void add_calls(const std::vector<std::pair<int, int>>& times)
    {
        Program program(1);
        program[0].sample(1, "main", 0);
        for (const auto& [enter, leave] : times)
            program[0].call(FunctionId::MPI_Iprobe, {enter, leave});
        program.finish(1000);
        thread(0).calls = load(program, MPI_COMM_SELF, replayer::Rules::Arrival).processes[0].locations[0].calls;
        const auto number = static_cast<std::uint32_t>(thread(0).calls.size());
        replay_.processes[0].numbers = model::CallNumbers({0}, {0, number});
    }

    /// "300, 10": time of the path by thread, us.
    static std::string threads(const Replayed& r)
    {
        const division::Window all{0, r.fact("makespan_ns")};
        std::vector<std::int64_t> us_of;
        for (const auto& time : division::time_of_threads(r.profile, {r.segments, r.attributions}, all).threads)
            us_of.push_back(time.path / 1000);
        return fmt::format("{}", fmt::join(us_of, ", "));
    }

    /// On the path, by row: "count of us, known".
    static std::map<std::string, std::string> counted(const Replayed& r)
    {
        std::map<std::string, std::string> words;
        for (const model::EventCount& e : r.profile.path_events)
            words[r.profile.row(e.call_path).name] =
                fmt::format("{} of {}, {}", e.count, e.ns / 1000, e.known_ns / 1000);
        return words;
    }
    Replayed run()
    {
        Replayed result = replay(replay_);
        std::int64_t sum = 0;
        for (const model::CallPathTime& time : result.profile.path) {
            EXPECT_GE(time.ns, 0);
            sum += time.ns;
        }
        EXPECT_EQ(sum, 1'000'000) << "rows are not the path";
        expect_windows_of(result, 1);
        return result;
    }

    replayer::Replay replay_;
    Functions functions_{replay_.definitions};
};

using Words = std::map<std::string, std::string>;

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
    thread(1).begin = from_us(310);
    thread(1).end = from_us(390);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("piece"), 100 + 100 + 50);
    EXPECT_EQ(r.path_us("[blocked]"), 100 + 50) << "before it, and when all is given";
}

/// The first thread is blocked from 300 to 500, while the second one works, which `caller` has called.
class BlockedBesideAThread : public TwoThreads
{
protected:
    /// The path time that is the work of the second thread; the rest of 200 us is [blocked].
    std::int64_t work_us(const std::string& caller, const std::string& module,
                         const std::vector<model::OffProcessor>& off, std::int64_t spins_from = 1000,
                         std::int64_t end = 1000, model::WaitsFor waits_for = model::WaitsFor::Unknown)
    {
        const ContextId main = functions_.add("main2", "/bin/app");
        const ContextId start = functions_.add(caller, module);
        const ContextId loop = functions_.add("loop", "/bin/app", start);
        const ContextId spin = functions_.add("look_for_more", "/bin/app", start);
        for (const std::int64_t t : {100, 200, 300, 600, 700, 800, 900, 1000})
            sample(0, t - 1, main, 100);
        thread(0).off = {{from_us(300), from_us(500), false, false, waits_for}};
        for (std::int64_t t = 340; t <= end; t += 80)
            if (std::ranges::none_of(
                    off, [&](const model::OffProcessor& o) { return from_us(t) > o.begin && from_us(t) <= o.end; }))
                sample(1, t, t < spins_from ? loop : spin, 80);
        thread(1).off = off;
        thread(1).end = from_us(end);
        const Replayed r = run();
        EXPECT_EQ(r.path_us("[blocked]") + r.path_us("loop"), 200);
        return r.path_us("loop");
    }
};

TEST_F(BlockedBesideAThread, ThatGoesOnWasNotWaitedFor)
{
    EXPECT_EQ(work_us("start_thread", libc, {}), 0);
}

TEST_F(BlockedBesideAThread, ThatGoesOnForLongBeforeItStopsWasNotWaitedFor)
{
    EXPECT_EQ(work_us("start_thread", libc, {{from_us(510), from_us(600), true}, {from_us(800), from_us(1000), false}}),
              0);
}

TEST_F(BlockedBesideAThread, ThatStopsAsTheOtherIsBackWasWaitedFor)
{
    EXPECT_EQ(work_us("start_thread", libc, {{from_us(505), from_us(1000), false}}), 200);
}

TEST_F(BlockedBesideAThread, ThatHadStoppedBeforeWasWaitedFor)
{
    EXPECT_EQ(work_us("start_thread", libc, {{from_us(430), from_us(700), false}}), 130);
}

TEST_F(BlockedBesideAThread, ThatStopsOnceItHasAProcessorAgainWasWaitedFor)
{
    EXPECT_EQ(work_us("start_thread", libc, {{from_us(502), from_us(650), true}, {from_us(760), from_us(1000), false}}),
              200);
}

TEST_F(BlockedBesideAThread, ThatLooksForMoreToDoWasWaitedFor)
{
    EXPECT_EQ(work_us("start_thread", libc, {}, 505), 200);
}

TEST_F(BlockedBesideAThread, ThatEndsWasWaitedFor)
{
    EXPECT_EQ(work_us("start_thread", libc, {}, 1000, 590), 200);
}

TEST_F(BlockedBesideAThread, ThatGoesOnWasWaitedForByWhoWaitedForAThread)
{
    EXPECT_EQ(work_us("start_thread", libc, {}, 1000, 1000, model::WaitsFor::Thread), 200);
}

TEST_F(BlockedBesideAThread, ThatGoesOnWasNotWaitedForIfAnotherStops)
{
    add_thread();
    const ContextId start = functions_.add("start_thread", libc);
    const ContextId piece = functions_.add("piece", "/bin/app", start);
    for (const std::int64_t t : {350, 400, 450, 500})
        sample(2, t, piece, 50);
    thread(2).off = {{from_us(505), from_us(1000), false}};
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId loop = functions_.add("loop", "/bin/app", start);
    for (const std::int64_t t : {100, 200, 300, 600, 700, 800, 900, 1000})
        sample(0, t - 1, main, 100);
    thread(0).off = {{from_us(300), from_us(500), false, false, model::WaitsFor::Thread}};
    for (std::int64_t t = 340; t <= 1000; t += 80)
        sample(1, t, loop, 80);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("piece"), 200);
    EXPECT_EQ(r.path_us("loop"), 0);
}

TEST_F(BlockedBesideAThread, WasNotWaitedForByWhoWaitedForSomethingElse)
{
    EXPECT_EQ(work_us("start_thread", libc, {{from_us(505), from_us(1000), false}}, 1000, 1000, model::WaitsFor::Other),
              0);
}

TEST_F(BlockedBesideAThread, OfATeamWasWaitedForAlthoughItGoesOn)
{
    EXPECT_EQ(work_us("start_team", gomp, {}), 200);
}

TEST_F(BlockedBesideAThread, OfATeamThatIsPartOfTheProgramWasWaitedForAlthoughItGoesOn)
{
    EXPECT_EQ(work_us("gomp_thread_start", "/bin/app", {}), 200);
}

TEST_F(BlockedBesideAThread, ThatMayBeOfATeamWasWaitedFor)
{
    EXPECT_EQ(work_us("[unknown callers]", "", {}), 200);
}

TEST_F(TwoThreads, WhoSpinsDoesNotWaitForAThreadThatIsOfNoTeam)
{
    const ContextId spin = functions_.add("gomp_barrier_wait", gomp);
    const ContextId loop = functions_.add("loop", "/bin/app", functions_.add("start_thread", libc));
    for (int t = 100; t <= 1000; t += 100) {
        sample(0, t - 1, spin, 100);
        sample(1, t - 40, loop, 100);
    }
    const Replayed r = run();
    EXPECT_EQ(r.path_us("[waiting for threads]"), 1000);
    EXPECT_EQ(r.path_us("loop"), 0);
}

TEST_F(TwoThreads, WhatTheCollectorDoesBetweenCallsIsMeasurement)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId wrapper = functions_.add("MPI_Test", "/opt/critpath/lib/libcritpath-preload.so", main);
    const ContextId clock = functions_.add("clock_gettime", libc, wrapper);
    const ContextId test = functions_.add("PMPI_Test", "/usr/lib/libmpi.so.40", wrapper);
    const ContextId copy = functions_.add("memcpy", libc, test);
    const ContextId create = functions_.add("pthread_create", "/opt/critpath/lib/libcritpath-preload.so", main);
    const ContextId of_libc = functions_.add("__pthread_create", libc, create);
    const ContextId map = functions_.add("mmap", libc, of_libc);
    const std::array<ContextId, 5> all = {main, wrapper, clock, test, copy};
    for (std::size_t i = 0; i < 2 * all.size(); ++i)
        sample(i % 2, 100 * static_cast<std::int64_t>(i + 1) - 1, all[i / 2], 100);
    sample(1, 1000, map, 10);
    thread(0).tool = {{from_us(200), from_us(210)}, {from_us(205), from_us(215)}};
    thread(1).tool = {{from_us(390), from_us(400)}};  // a sample of the wrapper is at 399
    counts(0, 70);
    counts(1, 70);
    const Replayed r = run();
    EXPECT_EQ(r.path_us("[measurement]"), 15 + 200);
    EXPECT_EQ(r.total_us("[measurement]"), 15 + 10 + 300);
    EXPECT_EQ(r.total_us("mmap"), 10);
    EXPECT_EQ(r.path_us("MPI_Test"), 0);
    EXPECT_EQ(r.path_us("PMPI_Test"), 100);
    EXPECT_EQ(r.path_us("memcpy"), 100);
    // A count of 70 is of the 200 us before its sample; of those around the recorded time of the collector, 101 and 84.
    EXPECT_EQ(counted(r), (Words{{"main2", "105 of 200, 200"},
                                 {"[measurement]", "100 of 284, 284"},
                                 {"PMPI_Test", "70 of 200, 200"},
                                 {"memcpy", "70 of 301, 200"}}));
}

/// Where samples have no callers, it is below nothing, like what the collector recorded itself, which samples do not
/// divide.
TEST_F(TwoThreads, WhatTheCollectorDoesIsCountedOnceWithoutCallers)
{
    const ContextId main = functions_.add("main2", "/bin/app");
    const ContextId wrapper = functions_.add("MPI_Test", "/opt/critpath/lib/libcritpath-preload.so");
    for (int i = 1; i <= 10; ++i)
        sample(0, 100 * i - 1, i == 5 ? wrapper : main, 100);
    thread(0).tool = {{from_us(200), from_us(260)}};
    const Replayed r = run();
    std::int64_t sum = 0;
    for (const model::CallPathTime& time : r.profile.path)
        sum += time.ns;
    EXPECT_EQ(sum, r.fact("path_ns"));
    EXPECT_EQ(r.path_us("[measurement]"), 60 + 94);  // 100 of 1,000, of which 940 are left
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

}  // namespace
}  // namespace critpath::tests

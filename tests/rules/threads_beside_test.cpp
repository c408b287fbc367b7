// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a path waits for another thread of its process, or that one is of no team and works beside it.
#include "tests/rules/two_threads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace critpath::tests
{
namespace
{

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

}  // namespace
}  // namespace critpath::tests

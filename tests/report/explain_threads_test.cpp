// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of the threads that work for the one on the path, where it is plain what this is.
#include "analysis/report/explain/explain.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace critpath::report
{
namespace
{

using testing::HasSubstr;
using testing::Not;
using namespace tests;

TEST(ExplainThreads, ThreadsAreSaidToBeInTheirOwnFunctions)
{
    model::Profile p = without_code(threaded_stretch(0, 600 * ms));
    const model::Row malloc = sampled("_int_malloc", "/lib/libc.so.6");
    add_code(p, {sampled("worker"), sampled("build_lists"), malloc}, {0, {}, 400 * ms, 400, 0, 400 * ms});
    add_code(p, {sampled("worker"), sampled("other"), malloc}, {0, {}, 150 * ms, 150, 0, 150 * ms});
    add_code(p, {sampled("worker"), sampled("build_lists")}, {0, {}, 50 * ms, 50, 0, 50 * ms});
    const Code code = code_of(p, 0);
    ASSERT_TRUE(code.of_threads);
    EXPECT_EQ(code.of_threads->name, "build_lists");
    EXPECT_NEAR(code.of_threads->share, 0.75, 1e-9);
}

TEST(ExplainThreads, ARankThatWaitsForItsThreadsIsNotBlockedBySomethingElse)
{
    model::Profile p = threaded_stretch(0, 600 * ms);
    model::Stretch& s = p.stretches[0];
    s.own_blocked_ns = 600 * ms;
    s.processor_ns = -100 * ms;
    s.blocked_ns = 600 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads);
    EXPECT_THAT(sentence(p), HasSubstr("Most of it in loop (54 %) and serial (40 %). It takes 100 % longer"));
    EXPECT_THAT(sentence(p),
                HasSubstr(" It waited for its own threads for 600 ms of that, which were in loop meanwhile "
                          "(90 %). Always rank 3 (persistent, 90 %): share the work of loop out evenly "
                          "among its threads, outside of critical sections, or make it faster."));
    EXPECT_THAT(sentence(p), Not(HasSubstr("It was blocked")));
    s.own_blocked_ns = 950 * ms;  // and what makes the difference may be the rest of it
    s.blocked_ns = 400 * ms;
    s.processor_ns = 100 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Blocked);
    EXPECT_THAT(sentence(p), HasSubstr("It was blocked otherwise for 350 ms of that."));
    EXPECT_THAT(sentence(p),
                HasSubstr("waits for outside of MPI: files, locks, memory, or a stop (SIGSTOP, a debugger)."));
    p.location_process = {0, 1, 2, 2, 3};
    EXPECT_THAT(sentence(p),
                HasSubstr("waits for outside of MPI: files, locks, memory, or a stop (SIGSTOP, a debugger)."))
        << "others have some";
    p.location_process = {0, 1, 2, 3, 3};
    EXPECT_THAT(
        sentence(p),
        HasSubstr(
            "waits for outside of MPI: files, locks, memory, threads of its own, or a stop (SIGSTOP, a debugger)."));
}

/// It works less itself, which is no advantage, and no less work.
TEST(ExplainThreads, WorkThatThreadsDoForItIsNeitherLessNorBlocked)
{
    model::Profile p = threaded_stretch(0, 600 * ms);
    model::Stretch& s = p.stretches[0];
    s.own_blocked_ns = 640 * ms;
    s.processor_ns = -150 * ms;
    s.preempted_ns = 50 * ms;
    s.blocked_ns = 600 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("(geometric mean): +90 % by more work, its own and that of its threads, "
                                       "+10 % by more of its time preempted."));
    const auto joins = [&](const auto& change) {
        model::Profile other = p;
        change(other, other.stretches[0]);
        return sentence(other).find("that of its threads") != std::string::npos;
    };
    using model::Profile;
    using model::Stretch;
    EXPECT_FALSE(joins([](Profile&, Stretch& t) { t.own_blocked_ns = 700 * ms; }))
        << "some of it is for something else";
    EXPECT_FALSE(joins([](Profile&, Stretch& t) { t.processor_ns = 50 * ms; })) << "it works more";
    EXPECT_FALSE(joins([](Profile&, Stretch& t) {
        t.processor_ns = 600 * ms;
        t.blocked_ns = -150 * ms;
    })) << "it is blocked less";
    EXPECT_FALSE(joins([](Profile&, Stretch& t) {
        t.processor_ns = 0;
        t.cycles_ns = -150 * ms;
    })) << "it works faster";
    EXPECT_FALSE(joins([](Profile& other, Stretch&) {
        set_code(other, {{pseudo("[preempted]"), {0, {}, 300 * ms, 0, 0, 300 * ms}}});
    })) << "threads lack a processor";
    // Faster instructions stand beside it.
    s.processor_ns = 0;
    s.instructions_ns = -100 * ms;
    s.cycles_ns = -50 * ms;
    s.counted = s.compared;
    EXPECT_THAT(sentence(p),
                HasSubstr("+100 % by more work, its own and that of its threads, -10 % by fewer cycles per "
                          "instruction, +10 % by more of its time preempted."));
}

TEST(ExplainThreads, ARankThatSpinsForItsThreadsHasNoWorkToGive)
{
    model::Profile p = threaded_stretch(450 * ms, 0);
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads);
    EXPECT_THAT(sentence(p),
                HasSubstr("+100 % by more time on the processor. It waited for its own threads for 450 ms"));
    p.stretches[0].peers_spinning_ns = 300 * ms;  // they do so as well: it is not that
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    // Half of all time is without a processor, on all ranks: of what is left, spinning is as much as before.
    p = threaded_stretch(225 * ms, 0);
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    p.stretches[0].own_preempted_ns = 500 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads);
}

/// It has more work, and waits for its threads for much of the time: both can be mended.
TEST(ExplainThreads, ThreadsMayBeUnequalBesidesMoreWork)
{
    model::Profile p = threaded_stretch(0, 460 * ms);
    model::Stretch& s = p.stretches[0];
    s.own_blocked_ns = 460 * ms;
    s.processor_ns = 400 * ms;
    s.blocked_ns = 100 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Processor);
    EXPECT_THAT(sentence(p), HasSubstr("Besides, it waits for its threads for 46 % of that time: share the work of "
                                       "loop out evenly among its threads"));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("besides for 46 % waits for its threads"));
    s.peers_ns = 1000 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("Only what makes all ranks faster makes this faster: share the work of loop"));
}

/// All that it does is to wait for them.
TEST(ExplainThreads, ThreadsAreTheReasonWhereNothingElseIsDone)
{
    model::Profile p = threaded_stretch(0, 950 * ms);
    model::Stretch& s = p.stretches[0];
    s.own_blocked_ns = 999 * ms;
    s.processor_ns = -499 * ms;
    s.preempted_ns = 0;
    s.blocked_ns = 999 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads);
}

/// Half of the difference, but less than the time that it lacks a processor itself: something makes it shorter.
TEST(ExplainThreads, ThreadsAreNoReasonWhereAnotherPartIsLarger)
{
    model::Profile p = threaded_stretch(450 * ms, 0);
    model::Stretch& s = p.stretches[0];
    s.processor_ns = 300 * ms;
    s.preempted_ns = s.own_preempted_ns = 310 * ms;
    s.blocked_ns = -110 * ms;
    EXPECT_GE(2 * explain(p, 0).longer_for_threads_ns(), 500 * ms);
    EXPECT_EQ(explain(p, 0).cause, Factor::Preempted);
    EXPECT_THAT(explain(p, 0).headline(),
                HasSubstr("longer than its peers (no processor and longer on the processor)"));
    s.preempted_ns = s.own_preempted_ns = 290 * ms;
    s.blocked_ns = -90 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads);
}

TEST(ExplainThreads, ThreadsThatAreWaitedForMayLackAProcessor)
{
    model::Profile p = one_stretch();
    set_code(p, {{sampled("loop"), {0, {}, 200 * ms, 90, 0, 200 * ms}},
                 {pseudo("[preempted]"), {0, {}, 400 * ms, 0, 0, 400 * ms}}});
    p.stretches[0].own_blocked_ns = 600 * ms;
    p.stretches[0].processor_ns = 0;
    p.stretches[0].blocked_ns = 500 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Preempted);
    EXPECT_THAT(sentence(p),
                HasSubstr("for 600 ms of that, which were in loop meanwhile (33 %), and lacked a processor "
                          "for 400 ms."));
    // It is no reason if those of the peers lack one for as much of their time: 200 ms of 500.
    p.stretches[0].peers_threads_preempted_ns = 200 * ms;
    EXPECT_EQ(explain(p, 0).longer_for_processors_ns(), 0);
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads);
    p.stretches[0].peers_threads_preempted_ns = 50 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Preempted);
}

/// On a busy node: who waits for a thread that has three times as much to do, which lacks a processor for most of that,
/// beside peers that lack one themselves for as much of their time, and so hardly wait.
TEST(ExplainThreads, PeersMayLackAProcessorThemselves)
{
    model::Profile p = one_stretch();
    set_code(p, {{sampled("loop"), {0, {}, 200 * ms, 90, 0, 200 * ms}},
                 {pseudo("[preempted]"), {0, {}, 450 * ms, 0, 0, 450 * ms}}});
    model::Stretch& s = p.stretches[0];  // 1000 ms, of the peers 500
    s.own_blocked_ns = 650 * ms;
    s.blocked_ns = 600 * ms;
    s.own_preempted_ns = 250 * ms;  // of the 350 ms that it does not wait
    s.preempted_ns = 0;             // of the 450 ms of the peers as large a part
    s.processor_ns = -100 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Threads) << explain(p, 0).longer_for_processors_ns();
    // If they lack none, that is what it takes longer for.
    s.preempted_ns = 450 * ms;
    s.blocked_ns = 600 * ms;
    s.processor_ns = -550 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Preempted) << explain(p, 0).longer_for_processors_ns();
}

TEST(ExplainThreads, ThreadsThatLackAProcessorAreWhereTheyWorked)
{
    model::Profile p = one_stretch();
    add_code(p, {sampled("other")}, {0, {}, 250 * ms, 25, 250 * ms, 0});
    add_code(p, {sampled("loop")}, {0, {}, 150 * ms, 15, 150 * ms, 0});
    add_code(p, {sampled("loop"), pseudo("[preempted]")}, {0, {}, 200 * ms, 0, 200 * ms, 0});
    EXPECT_THAT(sentence(p), HasSubstr("for 600 ms of that, which were in loop meanwhile (58 %), and lacked a "
                                       "processor for 200 ms."));
}

/// Samples of short gaps stand for more than the time that the thread had a processor there, and what takes part of the
/// time on the path may not be all of the time of a gap: nothing may be told twice.
TEST(ExplainThreads, NoTimeIsTwoParts)
{
    model::Profile p = one_stretch();
    set_code(p, {{pseudo("[preempted]"), {0, {}, 600 * ms, 0, 0, 0}},
                 {pseudo("[blocked]"), {0, {}, 150 * ms, 0, 0, 0}},
                 {sampled("loop"), {0, {}, 50 * ms, 5, 0, 50 * ms}},
                 {sampled("wait"), {0, {}, 600 * ms, 60, 600 * ms, 0}},
                 {sampled("serial"), {0, {}, 200 * ms, 20, 0, 0}}});
    p.stretches[0].own_preempted_ns = 600 * ms;
    p.stretches[0].own_blocked_ns = 200 * ms;
    const Explanation e = explain(p, 0);
    EXPECT_EQ(e.code.spinning_ns, 150 * ms) << "three quarters of the 200 ms that are left";
    EXPECT_EQ(e.code.sampled_spinning_ns, 600 * ms);
    const Losses losses = e.losses();
    EXPECT_EQ(losses.preempted_ns, 600 * ms);
    EXPECT_EQ(losses.threads_ns, 200 * ms);
    EXPECT_EQ(losses.blocked_ns, 150 * ms);
    EXPECT_THAT(sentence(p), HasSubstr("It lacked a processor for 600 ms of that. It waited for its own threads for "
                                       "200 ms of that, which were in wait meanwhile (75 %). It was blocked otherwise "
                                       "for 150 ms of that."));
    EXPECT_THAT(sentence(p), HasSubstr("Some of it in wait (15 %) and serial (5 %)."));

    const auto sum_with = [&](std::int64_t looked_at, std::int64_t preempted, std::int64_t blocked,
                              std::int64_t not_sampled) {
        Explanation other = e;
        auto stretch = *e.stretch;
        stretch.looked_at_ns = looked_at;
        stretch.own_preempted_ns = preempted;
        stretch.own_blocked_ns = blocked;
        other.stretch = std::make_shared<const model::Stretch>(stretch);
        other.code.not_sampled_ns = not_sampled;
        const Losses all = other.losses();
        EXPECT_LE(all.threads_preempted_ns, all.threads_ns);
        return all.preempted_ns + all.threads_ns + all.blocked_ns + all.not_sampled_ns;
    };
    EXPECT_LE(sum_with(1000 * ms, 900 * ms, 200 * ms, 0), 1000 * ms);
    EXPECT_LE(sum_with(1000 * ms, 700 * ms, 200 * ms, 300 * ms), 1000 * ms);
    EXPECT_LE(sum_with(1200 * ms, 900 * ms, 300 * ms, 300 * ms), 1000 * ms);
    EXPECT_LE(sum_with(1000 * ms, 900 * ms, 10 * ms, 300 * ms), 1000 * ms);
    EXPECT_EQ(sum_with(1000 * ms, 300 * ms, 200 * ms, 50 * ms), 700 * ms) << "what is no more than the whole stays";
}

}  // namespace
}  // namespace critpath::report

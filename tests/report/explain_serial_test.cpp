// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What explain says where the other ranks hardly work meanwhile.
#include "analysis/report/explain/explain.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::tests
{
namespace
{

using report::explain;
using report::Verdict;
using testing::HasSubstr;
using testing::Not;

/// All ranks take as long, and work so long of the time when one of the others does.
model::Profile balanced_stretch(std::int64_t others_at_work_ns)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.peers_ns = s.compared_ns;
    s.processor_ns = 0;
    s.others_at_work_ns = others_at_work_ns;
    return p;
}

TEST(ExplainSerial, BalancedRanksThatDoNotWorkAtTheSameTimeAreSerial)
{
    EXPECT_EQ(explain(balanced_stretch(500 * ms), 0).verdict, Verdict::Balanced);
    EXPECT_THAT(sentence(balanced_stretch(500 * ms)), Not(HasSubstr("in the mean")));
    const model::Profile p = balanced_stretch(30 * ms);
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Serial);
    EXPECT_THAT(sentence(p), HasSubstr(" Its peers take as long, but not at the same time."));
    EXPECT_THAT(
        sentence(p),
        HasSubstr(" While one rank computes here, the others compute, or are in calls that wait for nobody, for 3 % of "
                  "that time, in the mean, and wait else: let them do a part of it, or something else meanwhile."));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("its peers take as long, serial"));
}

/// The others have less to do there, and wait for that reason.
TEST(ExplainSerial, WhoHasLessToDoIsNotIdleForAnotherReason)
{
    model::Profile p = one_stretch();
    p.stretches[0].others_at_work_ns = 500 * ms;
    EXPECT_THAT(sentence(p), Not(HasSubstr("and wait else")));
    p.stretches[0].others_at_work_ns = 200 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);
    EXPECT_THAT(sentence(p),
                HasSubstr("the others compute, or are in calls that wait for nobody, for 20 % of that time, "
                          "in the mean, and wait else."));
}

TEST(ExplainSerial, WhatNoOtherRankDoesIsSerialIfTheyWait)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.compared = s.compared_ns = s.peers_ns = s.processor_ns = 0;
    p.stretch_shares = {{0, {3}, 1000 * ms, 10, 0}};
    EXPECT_EQ(explain(p, 0).verdict, Verdict::NoPeers);
    EXPECT_THAT(sentence(p), Not(HasSubstr("and wait else")));
    s.others_at_work_ns = 0;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::NoPeers);
    EXPECT_THAT(sentence(p), HasSubstr(" While rank 3 computes here, the others compute, or are in calls that wait for "
                                       "nobody, for 0 % of that time, in the mean, and wait else: let them do a part"));
    // Not worth the trouble: 0.4 % of the path.
    p.facts["path_ns"] = 250'000 * ms;
    EXPECT_THAT(sentence(p), Not(HasSubstr("let them")));
}

/// Ranks 1 and 3 take turns in a loop around one call: of 100 times, each has half, while the other has nothing to do.
model::Profile turns()
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.gaps = s.compared = s.slowest = 100;
    s.much_longer = 99;
    s.peers_ns = ms / 10;
    s.processor_ns = s.compared_ns - s.peers_ns;
    s.others_at_work_ns = 0;
    s.rank_variance = s.carrier_variance = 0;
    s.noise_variance = 10;
    s.costliest_ns = 11 * ms;
    s.costliest_rank = 3;
    s.costliest_length_ns = 11 * ms;
    p.stretch_shares = {{0, {1}, 450 * ms, 50, 450 * ms}, {0, {3}, 550 * ms, 50, 549 * ms}};
    return p;
}

/// How many times as long as nothing it takes says nothing of the program.
TEST(ExplainSerial, RanksThatTakeTurnsHaveNothingToBeComparedWith)
{
    const model::Profile p = turns();
    const report::Explanation e = explain(p, 0);
    EXPECT_EQ(e.verdict, Verdict::Serial);
    EXPECT_TRUE(e.takes_turns);
    EXPECT_FALSE(e.cause.has_value());
    EXPECT_THAT(
        sentence(p),
        HasSubstr(" Ranks take turns here: 99 of 100 times one of them has something to do, and the others "
                  "next to nothing at this place. While one rank computes here, the others compute, or are in "
                  "calls that wait for nobody, for 0 % of that time, in the mean, and wait else: let them do a part of "
                  "it, or something else meanwhile."));
    EXPECT_THAT(sentence(p), Not(HasSubstr("peers")));
    EXPECT_THAT(sentence(p), Not(HasSubstr("noise")));
    EXPECT_THAT(sentence(p), Not(HasSubstr("Most of all once")));
    EXPECT_THAT(e.headline(), HasSubstr(": ranks take turns, serial"));
}

TEST(ExplainSerial, SomeRanksMayTakeTurnsWithOthers)
{
    model::Profile p = turns();
    p.stretches[0].others_at_work_ns = 330 * ms;  // each works with one of three
    p.stretches[0].peers_ns = 15 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Serial);
    EXPECT_THAT(sentence(p), HasSubstr(" Ranks take turns here: 99 of 100 times some of them have something to do, and "
                                       "others next to nothing at this place. While one rank computes here, the others "
                                       "compute, or are in calls that wait for nobody, for 33 % of that time"));
    p.stretches[0].peers_ns = 30 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Transient);
}

TEST(ExplainSerial, OthersThatHaveSomethingToDoTakeNoTurns)
{
    model::Profile p = turns();
    p.stretches[0].others_at_work_ns = 550 * ms;  // at other places
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Transient);
    EXPECT_THAT(sentence(p), HasSubstr("as long as on its peers"));

    p = turns();
    p.stretches[0].peers_ns = 200 * ms;  // there
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Transient);
}

/// Most of the times nobody has much to do: this is noise, even if nothing else takes any time.
TEST(ExplainSerial, WhatHappensNowAndThenIsNoTurn)
{
    model::Profile p = turns();
    p.stretches[0].much_longer = 30;  // between turns, the path may pass ranks that have nothing to do
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Serial);
    p.stretches[0].much_longer = 20;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Transient);
    EXPECT_THAT(sentence(p), HasSubstr("20 of 100 times it takes half as long again, or more"));

    p = turns();
    p.stretch_shares[0].longer_ns = 9 * ms;  // hardly another rank has a turn
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Transient);
}

/// Work in turns on a busy machine, where the rank on the path is preempted a bit longer.
TEST(ExplainSerial, WhatMakesLittleDoesNotHideThatOthersAreIdle)
{
    model::Profile p = balanced_stretch(0);
    model::Stretch& s = p.stretches[0];
    s.peers_ns = 900 * ms;
    s.preempted_ns = s.own_preempted_ns = 100 * ms;
    s.rank_variance = 0;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Transient);
    EXPECT_THAT(sentence(p), HasSubstr("and wait else: let them do a part of it"));
    s.peers_ns = 400 * ms;
    s.preempted_ns = s.own_preempted_ns = 600 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("and wait else."));
}

/// Of others than the first threads nobody knows what they do meanwhile.
TEST(ExplainSerial, IsNotSaidOfThreadsThatAreNotLookedAt)
{
    model::Profile p = balanced_stretch(0);
    p.facts["threads_calling_mpi"] = 2;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Balanced);
    p.facts.erase("threads_calling_mpi");
    p.location_process = {0, 1, 2, 3, 3};
    EXPECT_THAT(sentence(p),
                HasSubstr("the others, their first threads, compute, or are in calls that wait for nobody, for 0 %"));
}

/// Each time takes as long, but one rank comes there more often.
TEST(ExplainSerial, WhoComesMoreOftenHasMoreWork)
{
    model::Profile p = balanced_stretch(1000 * ms);
    model::Stretch& s = p.stretches[0];
    s.most_times = 500;
    s.most_times_rank = 3;
    s.ranks_there = 4;
    s.all_times = 1703;
    EXPECT_THAT(sentence(p), HasSubstr("Only what makes all ranks faster"));
    s.all_times = 1100;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Balanced);
    EXPECT_THAT(sentence(p), HasSubstr(" Rank 3 comes here 500 times, the mean of the 3 others that do 200: who comes "
                                       "more often has more of this work."));
    EXPECT_THAT(sentence(p), Not(HasSubstr("Only what makes all ranks faster")));
    s.others_at_work_ns = 400 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("has more of this work. While one rank computes here, the others compute, or "
                                       "are in calls that wait for nobody, for 40 %"));
    s.peers_ns = 500 * ms;
    s.processor_ns = 500 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("the mean of the 3 others that do 200."));
}

/// One that is named alone would leave the other one among those that have less of the work.
TEST(ExplainSerial, TwoThatComeMoreOftenAreBothNamed)
{
    model::Profile p = balanced_stretch(1000 * ms);
    model::Stretch& s = p.stretches[0];
    s.most_times = 500;
    s.most_times_rank = 3;
    s.second_times = 450;
    s.second_times_rank = 1;
    s.ranks_there = 4;
    s.all_times = 1150;
    EXPECT_THAT(sentence(p),
                HasSubstr(" Ranks 3 and 1 come here 500 and 450 times, the mean of the 2 others that do 100: "
                          "who comes more often has more of this work."));
    s.ranks_there = 3;
    EXPECT_THAT(sentence(p), HasSubstr(" Ranks 3 and 1 come here 500 and 450 times, the other one 200: who"));
    s.ranks_there = 4;
    s.second_times = 300;  // much less often than the first
    EXPECT_THAT(sentence(p), HasSubstr(" Rank 3 comes here 500 times, the mean of the 3 others that do 217: who"));
    s.second_times = 450;
    s.all_times = 1730;  // as often as the others
    EXPECT_THAT(sentence(p), HasSubstr("Only what makes all ranks faster"));
}

TEST(ExplainSerial, OneRankHasNoOthers)
{
    model::Profile p = balanced_stretch(0);
    p.processes.resize(1);
    p.stretch_shares = {{0, {0}, 1000 * ms, 10, 0}};
    EXPECT_FALSE(explain(p, 0).others_at_work.has_value());
    EXPECT_THAT(sentence(p), Not(HasSubstr("and wait else")));
}

}  // namespace
}  // namespace critpath::tests

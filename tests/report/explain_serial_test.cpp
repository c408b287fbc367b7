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
        HasSubstr(" While one rank computes here, the others compute for 3 % of that time, in the mean, and wait "
                  "or communicate else: let them do a part of it, or something else meanwhile."));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("its peers take as long, serial"));
}

/// The others have less to do there, and wait for that reason.
TEST(ExplainSerial, WhoHasLessToDoIsNotIdleForAnotherReason)
{
    model::Profile p = one_stretch();
    p.stretches[0].others_at_work_ns = 500 * ms;
    EXPECT_THAT(sentence(p), Not(HasSubstr("wait or communicate else")));
    p.stretches[0].others_at_work_ns = 200 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);
    EXPECT_THAT(sentence(p), HasSubstr("the others compute for 20 % of that time, in the mean, and wait or "
                                       "communicate else."));
}

TEST(ExplainSerial, WhatNoOtherRankDoesIsSerialIfTheyWait)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.compared = s.compared_ns = s.peers_ns = s.processor_ns = 0;
    p.stretch_shares = {{0, {3}, 1000 * ms, 10, 0}};
    EXPECT_EQ(explain(p, 0).verdict, Verdict::NoPeers);
    EXPECT_THAT(sentence(p), Not(HasSubstr("wait or communicate else")));
    s.others_at_work_ns = 0;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::NoPeers);
    EXPECT_THAT(sentence(p), HasSubstr(" While rank 3 computes here, the others compute for 0 % of that time, in the "
                                       "mean, and wait or communicate else: let them do a part of it"));
    // Not worth the trouble: 0.4 % of the path.
    p.facts["path_ns"] = 250'000 * ms;
    EXPECT_THAT(sentence(p), Not(HasSubstr("let them")));
}

/// Of others than the first threads nobody knows what they do meanwhile.
TEST(ExplainSerial, IsNotSaidOfThreadsThatAreNotLookedAt)
{
    model::Profile p = balanced_stretch(0);
    p.facts["threads_calling_mpi"] = 2;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Balanced);
    p.facts.erase("threads_calling_mpi");
    p.location_process = {0, 1, 2, 3, 3};
    EXPECT_THAT(sentence(p), HasSubstr("the others, their first threads, compute for 0 %"));
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
    EXPECT_THAT(sentence(p),
                HasSubstr("has more of this work. While one rank computes here, the others compute for 40 %"));
    s.peers_ns = 500 * ms;
    s.processor_ns = 500 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("the mean of the 3 others that do 200."));
}

TEST(ExplainSerial, OneRankHasNoOthers)
{
    model::Profile p = balanced_stretch(0);
    p.processes.resize(1);
    p.stretch_shares = {{0, {0}, 1000 * ms, 10, 0}};
    EXPECT_FALSE(explain(p, 0).others_at_work.has_value());
    EXPECT_THAT(sentence(p), Not(HasSubstr("wait or communicate else")));
}

}  // namespace
}  // namespace critpath::tests

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What explain says where ranks are on the path by turns, where one time makes the difference, and where several causes
// do.
#include "analysis/report/explain/explain.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace critpath::tests
{
namespace
{

using report::explain;
using report::Explanation;
using report::Factor;
using report::Verdict;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

/// Ranks 1 and 3, each the only peer of the other: once in ten times rank 3 takes 600 ms longer, else they are equal.
model::Profile one_long_turn()
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.compared = 20;
    s.gaps = 20;
    s.peers_ns = s.compared_ns;
    s.processor_ns = 0;
    s.costliest_ns = 590 * ms;
    s.costliest_rank = 3;
    s.costliest_length_ns = 620 * ms;
    s.rank_variance = s.carrier_variance = 90;
    s.noise_variance = 10;
    p.stretch_shares = {{0, {1}, 200 * ms, 10, -600 * ms}, {0, {3}, 800 * ms, 10, 600 * ms}};
    model::StretchRank rank;
    rank.process = {3};
    rank.compared = 10;
    rank.looked_at_ns = rank.compared_ns = 800 * ms;
    rank.peers_ns = 200 * ms;
    rank.processor_ns = 600 * ms;
    p.stretch_ranks = {rank};
    return p;
}

TEST(ExplainTurns, OneLongTurnIsNeitherBalancedNorPersistent)
{
    model::Profile p = one_long_turn();
    const Explanation e = explain(p, 0);
    EXPECT_EQ(e.verdict, Verdict::Transient);
    EXPECT_TRUE(e.is_of_longer_ranks);
    EXPECT_DOUBLE_EQ(e.excess, 3);
    EXPECT_EQ(e.cause, Factor::Processor);
    EXPECT_THAT(sentence(p), HasSubstr("those that take longer, rank 3 most, take 4.0 times as long as their peers "
                                       "(geometric mean): +300 % by more time on the processor."));
    EXPECT_THAT(sentence(p), HasSubstr("Not always, but mostly once (transient; one of 20 times has 98 % of the "
                                       "difference)"));
    EXPECT_THAT(sentence(p), HasSubstr(" Most of all once on rank 3, 590 ms longer than on its peers: "));
    EXPECT_THAT(e.headline(), HasSubstr("rank 3 4.0 times as long as its peers"));
    // Less than half of it: always the same rank.
    p.stretches[0].costliest_ns = 290 * ms;
    p.stretches[0].fastest_time = 960'000'000;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);
    p.stretches[0].fastest_rank = 1;
    p.stretches[0].fastest_time = 250'000'000;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Unequal);
    // The others take longer in the sum.
    p.stretches[0].peers_ns = p.stretches[0].compared_ns * 11 / 10;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Unequal);
    p.stretches[0].costliest_ns = 590 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Transient);
}

/// What all of them take is what the figures say, and no more.
TEST(ExplainTurns, WhatAllTakeTogetherIsSaidAsItIs)
{
    model::Profile p = one_long_turn();
    model::Stretch& s = p.stretches[0];
    EXPECT_THAT(sentence(p), HasSubstr("Together, the ranks on the path take as long as their peers, for they are each "
                                       "other's; but those that take longer, rank 3 most, take 4.0 times"));
    s.peers_ns = s.compared_ns * 10 / 9;
    EXPECT_THAT(sentence(p), HasSubstr("Together, the ranks on the path take 10 % less than their peers; but those "
                                       "that take longer, rank 3 most, take 4.0 times"));
    s.peers_ns = s.compared_ns / 2;
    EXPECT_THAT(sentence(p), HasSubstr("Together, the ranks on the path take 100 % longer than their peers, though "
                                       "some of them take less; those that take longer, rank 3 most, take 4.0 times"));
}

/// Of three, one always takes ten times as long. It is a peer of the others, which take less for that.
TEST(ExplainTurns, WhatOthersTakeLessDoesNotHideTheSlowRank)
{
    model::Profile p = one_long_turn();
    model::Stretch& s = p.stretches[0];
    s.costliest_ns = 40 * ms;
    s.peers_ns = 600 * ms;
    s.processor_ns = 400 * ms;
    s.fastest_time = 100'000'000;
    p.stretch_shares = {{0, {1}, 100 * ms, 10, -320 * ms}, {0, {3}, 900 * ms, 10, 720 * ms}};
    p.stretch_ranks[0].looked_at_ns = p.stretch_ranks[0].compared_ns = 900 * ms;
    p.stretch_ranks[0].peers_ns = 90 * ms;
    p.stretch_ranks[0].processor_ns = 810 * ms;
    const Explanation e = explain(p, 0);
    EXPECT_EQ(e.verdict, Verdict::PersistentRank);
    EXPECT_DOUBLE_EQ(e.excess, 9);
    p.stretch_ranks[0].peers_ns = 500 * ms;  // a bit more than in the sum
    EXPECT_NEAR(explain(p, 0).excess, 400.0 / 600, 1e-9);
}

TEST(ExplainTurns, WhatHardlyCancelsIsBalanced)
{
    model::Profile p = one_long_turn();
    p.stretch_shares = {{0, {1}, 500 * ms, 10, -40 * ms}, {0, {3}, 500 * ms, 10, 40 * ms}};
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Balanced);
    EXPECT_FALSE(explain(p, 0).is_of_longer_ranks);
}

/// Ten times on the path, each much longer, and all on rank 3; the variance is not by rank.
model::Profile longer_each_time()
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.much_longer = s.most_times = 10;
    s.rank_variance = 10;
    s.noise_variance = 90;
    s.costliest_rank = 3;
    s.costliest_length_ns = 300 * ms;
    p.stretch_shares = {{0, {3}, 1000 * ms, 10, 500 * ms}};
    return p;
}

TEST(ExplainTurns, WhoIsLongerEachTimeIsSoAlways)
{
    model::Profile p = longer_each_time();
    model::Stretch& s = p.stretches[0];
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);
    EXPECT_THAT(explain(p, 0).headline(), EndsWith("longer than its peers, persistent rank"));
    EXPECT_THAT(sentence(p), HasSubstr(" Always rank 3 (persistent: 10 of 10 times it takes half as long again, or "
                                       "more): move work from there"));
    EXPECT_THAT(sentence(p), Not(HasSubstr("Most of all once")));
    s.costliest_ns = 260 * ms;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);
    EXPECT_THAT(sentence(p), HasSubstr(" Always rank 3, and once much more (persistent: 10 of 10 times it takes half "
                                       "as long again, or more; one of 10 times has 52 % of the difference): move"));
    EXPECT_THAT(sentence(p), HasSubstr(" Most of all once on rank 3, 260 ms longer than on its peers: "));
    s.rank_variance = 90;  // the same, whatever the variance says
    s.noise_variance = 10;
    EXPECT_THAT(sentence(p), HasSubstr(" Always rank 3, and once much more (persistent: 10 of 10 times"));
    s.costliest_ns = 400 * ms;  // hardly anything without that time
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Transient);
    EXPECT_THAT(sentence(p), HasSubstr(" Always, but most of it once (transient; one of 10 times has 80 % of the "
                                       "difference): 10 of 10 times it takes half as long again, or more, mostly on "
                                       "rank 3 (100 % of the difference): look at what it does then"));
    s.much_longer = 9;
    EXPECT_THAT(sentence(p), HasSubstr(" Not always, but mostly once (transient; one of 10 times has 80 % of the "
                                       "difference): 9 of 10 times"));
}

TEST(ExplainTurns, WhatIsLongerEachTimeMayNotBeByRank)
{
    model::Profile p = longer_each_time();
    model::Stretch& s = p.stretches[0];
    s.most_times = 40;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Transient);
    EXPECT_THAT(sentence(p), HasSubstr(" Each time that it is on the path, which says little of the whole run "
                                       "(transient, 10 % persistent): 10 of 10 times"));
    s.ranks = 3;  // of others, which come here more often
    s.ranks_there = 4;
    s.slowest_rank = 0;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::PersistentRank);
    EXPECT_THAT(explain(p, 0).headline(), EndsWith("longer than its peers, persistent rank"));
    EXPECT_THAT(sentence(p), HasSubstr(" Always rank 3 (persistent: 10 of 10 times that it is on the path it takes "
                                       "half as long again, or more): move work"));
    EXPECT_THAT(sentence(p), Not(HasSubstr("That leaves out")));
    s.compared = s.much_longer = s.most_times = 4;
    EXPECT_THAT(sentence(p), HasSubstr(" Always, but so few times may be chance (transient, 10 % persistent): 4 of 4"));
    s.compared = s.much_longer = s.most_times = 10;
    p.stretch_shares = {{0, {2}, 200 * ms, 2, 100 * ms}, {0, {3}, 800 * ms, 8, 400 * ms}};
    EXPECT_THAT(sentence(p), HasSubstr(" Each time, but not always the same rank (transient, 10 % persistent): 10 of "
                                       "10 times it takes half as long again, or more, mostly on rank 3 (80 %"));
}

/// Who lacks a processor each time lacks one, though the variance is of the time without that.
TEST(ExplainTurns, WhoLacksAProcessorEachTimeDoesSoAlways)
{
    model::Profile p = longer_each_time();
    model::Stretch& s = p.stretches[0];
    s.not_preempted = 1;
    s.processor_ns = 0;
    s.preempted_ns = s.own_preempted_ns = 500 * ms;
    const Explanation e = explain(p, 0);
    EXPECT_EQ(e.verdict, Verdict::PersistentRank);
    EXPECT_EQ(e.cause, Factor::Preempted);
}

TEST(ExplainTurns, ASecondCauseHasItsOwnRemedy)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.processor_ns = 300 * ms;
    s.blocked_ns = s.own_blocked_ns = 200 * ms;
    const Explanation e = explain(p, 0);
    EXPECT_EQ(e.cause, Factor::Processor);
    EXPECT_EQ(e.second, Factor::Blocked);
    EXPECT_THAT(e.headline(), HasSubstr("(longer on the processor and blocked)"));
    EXPECT_THAT(sentence(p),
                HasSubstr(" Nearly as much comes of another cause, to be blocked (+40 %): find out what it "
                          "waits for outside of MPI"));
    s.processor_ns = 360 * ms;
    s.blocked_ns = s.own_blocked_ns = 140 * ms;  // not half as much
    EXPECT_EQ(explain(p, 0).second, std::nullopt);
    s.processor_ns = 140 * ms;
    s.blocked_ns = 0;
    s.own_blocked_ns = 0;
    s.preempted_ns = s.own_preempted_ns = 360 * ms;
    EXPECT_EQ(explain(p, 0).second, std::nullopt);
    s.processor_ns = 200 * ms;
    s.preempted_ns = s.own_preempted_ns = 300 * ms;
    EXPECT_EQ(explain(p, 0).second, Factor::Processor);
    EXPECT_THAT(sentence(p), HasSubstr("another cause, time on the processor (+40 %): move work"));
}

}  // namespace
}  // namespace critpath::tests

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What explain says of parts of a difference that are not the same each time.
#include "analysis/report/explain/explain.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::tests
{
namespace
{

using report::explain;
using report::Explanation;
using report::Factor;
using report::Verdict;
using testing::HasSubstr;
using testing::Not;

/// Of 500 ms that it takes longer, so much is work, which is the same each time, and so much it is blocked.
model::Profile blocked_and_working(std::int64_t blocked_ns, std::int64_t blocked_spread_ns)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.processor_ns = 500 * ms - blocked_ns;
    s.blocked_ns = s.own_blocked_ns = blocked_ns;
    s.blocked_spread_ns = blocked_spread_ns;
    s.costliest_ns = 60 * ms;
    s.costliest_rank = 3;
    return p;
}

TEST(ExplainSpread, WhatIsSoInFewOfManyTimesIsNoCauseOfWhatPersists)
{
    Explanation e = explain(blocked_and_working(200 * ms, 20 * ms), 0);
    EXPECT_EQ(e.verdict, Verdict::PersistentRank);
    EXPECT_EQ(e.cause, Factor::Processor);
    EXPECT_EQ(e.second, Factor::Blocked);
    EXPECT_EQ(explain(blocked_and_working(200 * ms, 220 * ms), 0).second, std::nullopt);
    // Nor is it the first one, however much it makes together.
    EXPECT_EQ(explain(blocked_and_working(350 * ms, 100 * ms), 0).cause, Factor::Blocked);
    const model::Profile p = blocked_and_working(350 * ms, 400 * ms);
    e = explain(p, 0);
    EXPECT_EQ(e.verdict, Verdict::PersistentRank);
    EXPECT_EQ(e.cause, Factor::Processor);
    EXPECT_EQ(e.second, std::nullopt);
    EXPECT_THAT(sentence(p), HasSubstr("Always rank 3 (persistent, 90 %): move work from there to the others"));
}

/// What comes now and then is what it was in this run.
TEST(ExplainSpread, WhatIsTransientHasTheCauseThatItHad)
{
    model::Profile p = blocked_and_working(350 * ms, 400 * ms);
    p.stretches[0].rank_variance = p.stretches[0].carrier_variance = 0;
    const Explanation e = explain(p, 0);
    EXPECT_EQ(e.verdict, Verdict::Transient);
    EXPECT_EQ(e.cause, Factor::Blocked);
    EXPECT_EQ(e.second, std::nullopt);
}

/// But as much of something else, which is chance as well, is no finding; and work that comes now and then is not
/// moved.
TEST(ExplainSpread, ASecondCauseOfWhatIsTransientIsNoChance)
{
    model::Profile p = blocked_and_working(300 * ms, 150 * ms);
    model::Stretch& s = p.stretches[0];
    s.rank_variance = s.carrier_variance = 0;
    s.work_spread_ns = 180 * ms;
    EXPECT_EQ(explain(p, 0).second, Factor::Processor);
    EXPECT_THAT(sentence(p), HasSubstr(" Nearly as much comes of another cause, time on the processor (+40 %): look at "
                                       "what it does then and not at other times, and what disturbs it."));
    s.work_spread_ns = 220 * ms;
    EXPECT_EQ(explain(p, 0).second, std::nullopt);
}

TEST(ExplainSpread, APartThatMayBeHalfOrNothingSaysSo)
{
    EXPECT_THAT(sentence(blocked_and_working(200 * ms, 20 * ms)),
                HasSubstr(": +60 % by more time on the processor, +40 % by more of its time blocked."));
    model::Profile p = blocked_and_working(200 * ms, 150 * ms);
    EXPECT_THAT(sentence(p),
                HasSubstr(": +60 % by more time on the processor, +40 % (± 30) by more of its time blocked."));
    // One time has most of it: nothing is known of others.
    p.stretches[0].costliest_ns = 300 * ms;
    EXPECT_THAT(sentence(p), HasSubstr("+40 % by more of its time blocked."));
    p.stretches[0].costliest_ns = 60 * ms;
    p.stretches[0].occurrences = 2;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Rare);
    EXPECT_THAT(sentence(p), HasSubstr("+40 % by more of its time blocked."));
}

/// Twice the work always, on a machine where all are preempted for much longer now and then.
TEST(ExplainSpread, WhatPersistsWithoutBeingPreemptedIsWork)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.processor_ns = 150 * ms;
    s.preempted_ns = 350 * ms;
    s.own_preempted_ns = 400 * ms;
    EXPECT_EQ(explain(p, 0).cause, Factor::Preempted);
    s.not_preempted = 1;
    const Explanation e = explain(p, 0);
    EXPECT_EQ(e.verdict, Verdict::PersistentRank);
    EXPECT_EQ(e.cause, Factor::Processor);
    EXPECT_EQ(e.second, Factor::Preempted);
    EXPECT_THAT(sentence(p),
                HasSubstr(" Always rank 3 (persistent, 90 % but for preemption): move work from there to the "
                          "others"));
    EXPECT_THAT(sentence(p), HasSubstr(" More comes of another cause, to lack a processor (+70 %): find out who else "
                                       "uses its processor"));
    EXPECT_THAT(e.headline(), HasSubstr("(longer on the processor and without a processor), persistent rank"));
}

/// 800 ms on two processors' worth of programs: who has twice the work has 200 ms more of it, and is preempted for as
/// much as that takes.
TEST(ExplainSpread, WorkHasAPartOfWhatItIsPreempted)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.processor_ns = 500 * ms;
    EXPECT_THAT(sentence(p), HasSubstr(": +100 % by more time on the processor."));
    s.own_preempted_ns = 500 * ms;
    EXPECT_THAT(sentence(p), HasSubstr(": +100 % by more time on the processor (and preempted in proportion)."));
}

/// Nothing stands in front of it that tells when to look.
TEST(ExplainSpread, WithoutPeersTheLongestTimeIsNamed)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.compared = s.compared_ns = s.peers_ns = s.processor_ns = 0;
    p.stretch_shares = {{0, {3}, 1000 * ms, 10, 0}};
    s.costliest_ns = s.costliest_length_ns = 140 * ms;
    s.costliest_rank = 3;
    s.costliest_begin_ns = 2000 * ms;
    EXPECT_THAT(sentence(p), Not(HasSubstr("The longest")));
    s.costliest_ns = s.costliest_length_ns = 200 * ms;
    EXPECT_THAT(sentence(p), HasSubstr(" The longest of 10 times is 200 ms on rank 3: cpreport hotspots --rank 3 "
                                       "--from 2 --to 2.2"));
}

}  // namespace
}  // namespace critpath::tests

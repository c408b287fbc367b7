// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What explain says where the ranks that take less have as much to do elsewhere, so that nothing can be gained.
#include "analysis/report/explain/explain.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace critpath::tests
{
namespace
{

using report::explain;
using report::Verdict;
using testing::HasSubstr;
using testing::Not;

/// Rank 3 takes 0.5 s longer there, of a path of 4 s that is all computation. In the whole run the ranks compute so
/// long.
model::Profile run_of(const std::vector<std::int64_t>& computed_ms)
{
    model::Profile p = one_stretch();
    p.stretch_shares = {{0, {3}, 1000 * ms, 10, 500 * ms}};
    p.kinds = {{model::SegmentKind::Compute, model::RowId::none(), {3}, 4000 * ms, 1}};
    for (std::uint32_t rank = 0; rank < computed_ms.size(); ++rank) {
        p.locations.push_back("rank " + std::to_string(rank));
        p.location_process.push_back(rank);
        p.computed_ns.push_back(computed_ms[rank] * ms);
    }
    return p;
}

TEST(ExplainBusy, WhereTheOthersHaveAsMuchToDoNothingIsGained)
{
    const model::Profile p = run_of({3700, 3900, 3800, 4000});
    ASSERT_EQ(p.processes.size(), 4U);
    ASSERT_EQ(p.facts.at("path_ns"), 4000 * ms);
    const report::Explanation e = explain(p, 0);
    EXPECT_EQ(e.verdict, Verdict::PersistentRank);
    // The mean rank computes for 3.85 s, the busiest of the others for 3.9 s.
    EXPECT_DOUBLE_EQ(e.most_gain.value(), 0.15 / 4);
    EXPECT_DOUBLE_EQ(e.could_gain(), 0.15 / 4);
    EXPECT_THAT(sentence(p), HasSubstr(" But the other ranks have as much to do elsewhere: over the whole run, the "
                                       "path computes longer than they do by 3.8 % of its length, and no more than "
                                       "that can be gained here."));
    EXPECT_THAT(e.headline(), HasSubstr("but the others are as busy elsewhere"));
}

TEST(ExplainBusy, WhereTheOthersWaitMuchIsGained)
{
    const model::Profile p = run_of({3400, 3000, 3400, 4000});
    EXPECT_DOUBLE_EQ(explain(p, 0).most_gain.value(), 0.6 / 4);
    EXPECT_DOUBLE_EQ(explain(p, 0).could_gain(), 0.5 / 4);
    EXPECT_THAT(sentence(p), Not(HasSubstr("as much to do elsewhere")));
    EXPECT_THAT(explain(p, 0).headline(), Not(HasSubstr("as busy")));
}

/// Without it, the others would have less to do, too.
TEST(ExplainBusy, WhatComesNowAndThenIsNotBounded)
{
    model::Profile p = run_of({3700, 3900, 3800, 4000});
    p.stretches[0].rank_variance = p.stretches[0].carrier_variance = 0;
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Transient);
    EXPECT_DOUBLE_EQ(explain(p, 0).could_gain(), 0.5 / 4);
    EXPECT_THAT(sentence(p), Not(HasSubstr("as much to do elsewhere")));
}

TEST(ExplainBusy, OfRanksWithThreadsNobodyKnows)
{
    model::Profile p = run_of({3700, 3900, 3800, 4000});
    p.locations.emplace_back("rank 3 thread 1");
    p.location_process.push_back(3);
    p.computed_ns.push_back(0);
    EXPECT_FALSE(explain(p, 0).most_gain);
    EXPECT_THAT(sentence(p), Not(HasSubstr("as much to do elsewhere")));
}

}  // namespace
}  // namespace critpath::tests

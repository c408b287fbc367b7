// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What explain says where the collector has a part of the computation.
#include "analysis/report/explain/beside.hpp"
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

/// One second of a rank, of which recording took so much, while all others wait.
model::Profile recorded_stretch(std::int64_t measurement_ns, std::int64_t not_sampled_ns = 0)
{
    model::Profile p = one_stretch();
    model::Stretch& s = p.stretches[0];
    s.peers_ns = s.compared_ns;
    s.processor_ns = 0;
    s.others_at_work_ns = 30 * ms;
    add_code(p, {pseudo("[measurement]")}, {0, {}, measurement_ns, 80});
    if (const std::int64_t rest = s.path_ns - measurement_ns - not_sampled_ns; rest > 0)
        add_code(p, {sampled("work")}, {0, {}, rest, 20});
    return p;
}

TEST(ExplainMeasurement, WhatRecordingTookIsSaid)
{
    const model::Profile p = recorded_stretch(400 * ms);
    EXPECT_EQ(explain(p, 0).losses().measurement_ns, 400 * ms);
    EXPECT_THAT(sentence(p), HasSubstr(" Recording took 400 ms of that (40 %)."));
    EXPECT_THAT(sentence(p), HasSubstr("let them do a part of it"));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("mostly in work"));
    EXPECT_THAT(explain(p, 0).headline(), Not(HasSubstr("recording")));
}

TEST(ExplainMeasurement, NothingIsAdvisedWhereTheApplicationHasNextToNothing)
{
    const model::Profile p = recorded_stretch(900 * ms);
    EXPECT_EQ(explain(p, 0).verdict, Verdict::Serial);
    EXPECT_THAT(sentence(p),
                HasSubstr(" Recording took 900 ms of that (90 %): little of it is work of the application."));
    EXPECT_THAT(sentence(p), Not(HasSubstr("let them")));
    EXPECT_THAT(explain(p, 0).headline(), HasSubstr("mostly what recording took"));
    model::Profile balanced = p;
    balanced.stretches[0].others_at_work_ns = 1000 * ms;
    EXPECT_EQ(explain(balanced, 0).verdict, Verdict::Balanced);
    EXPECT_THAT(sentence(balanced), Not(HasSubstr("makes this faster")));
}

/// What is not sampled is nobody's work either, so far as anything tells.
TEST(ExplainMeasurement, ItIsMostOfWhatIsKnown)
{
    EXPECT_TRUE(explain(recorded_stretch(600 * ms, 400 * ms), 0).is_mostly_measurement());
    EXPECT_FALSE(explain(recorded_stretch(600 * ms), 0).is_mostly_measurement());
}

TEST(ExplainMeasurement, NextToNothingOfItIsNotSaid)
{
    EXPECT_THAT(sentence(recorded_stretch(20 * ms)), Not(HasSubstr("Recording took")));
    EXPECT_THAT(sentence(one_stretch()), Not(HasSubstr("Recording took")));
}

/// What the collector says of its own time is in no stretch.
TEST(ExplainMeasurement, ItsOwnTimeIsSaidBesideComputation)
{
    model::Profile p = one_stretch();
    p.rows.push_back(pseudo("[measurement]"));
    p.call_paths.push_back({{static_cast<std::uint32_t>(p.rows.size() - 1)}, model::CallPathId::none()});
    p.path.push_back({{static_cast<std::uint32_t>(p.call_paths.size() - 1)}, {0}, 1000 * ms, 0, 0});
    p.path.push_back({{1}, {0}, 3000 * ms, 100, 0});
    p.kinds.push_back({model::SegmentKind::Tool, model::RowId::none(), {0}, 1000 * ms, 5});
    EXPECT_EQ(report::beside_computation(p).sentence(),
              "Beside computation, the path has what recording took (25.0 %).");
}

}  // namespace
}  // namespace critpath::tests

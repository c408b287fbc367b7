// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which segments are where they are by a doubtful decision (docs/ALGORITHM, "Uncertainty").
#include "analysis/report/led.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::report
{
namespace
{

using model::Confidence;
using model::Segment;
using model::SegmentKind;

struct Step {
    SegmentKind kind;
    std::uint32_t location;
    std::int64_t ns;
    Confidence confidence = Confidence::Full;
    model::CallPathId call = model::CallPathId::none();
};

constexpr model::CallPathId poll_call{7};

std::vector<Segment> path_of(const std::vector<Step>& steps)
{
    std::vector<Segment> path;
    std::int64_t time = 0;
    for (const Step& step : steps) {
        Segment segment{};
        segment.begin = time;
        segment.end = time += step.ns;
        segment.location = segment.other = step.location;
        segment.kind = static_cast<std::uint8_t>(step.kind);
        segment.call = step.call.value;
        segment.low_confidence = static_cast<std::uint8_t>(step.confidence);
        path.push_back(segment);
    }
    return path;
}

/// 1 or 0 by segment, looked at in this direction.
std::string led(const std::vector<Step>& steps, bool backwards = false, std::int64_t clock_error = 0)
{
    const std::vector<Segment> path = path_of(steps);
    LedSegments segments(path, clock_error, [](model::CallPathId call) { return call == poll_call; });
    std::string result(path.size(), ' ');
    for (std::size_t i = 0; i < path.size(); ++i) {
        const std::size_t segment = backwards ? path.size() - 1 - i : i;
        result[segment] = segments.has(segment) ? '1' : '0';
    }
    return result;
}

constexpr SegmentKind compute = SegmentKind::Compute, mpi = SegmentKind::Mpi, transfer = SegmentKind::Transfer;

TEST(LedSegments, AreThoseFromTheDecisionBeforeToTheDoubtfulOne)
{
    const std::vector<Step> steps = {{compute, 2, 40}, {transfer, 0, 4}, {compute, 0, 50},
                                     {mpi, 0, 2},      {compute, 0, 50}, {transfer, 1, 6, Confidence::Low},
                                     {compute, 1, 30}, {transfer, 0, 4}, {compute, 0, 9}};
    EXPECT_EQ(led(steps), "001111000");
    EXPECT_EQ(led(steps, true), "001111000");
}

TEST(LedSegments, AreNoneThatAreFiftyTimesAsLong)
{
    EXPECT_EQ(led({{compute, 0, 99}, {transfer, 1, 2, Confidence::Low}, {compute, 1, 9}}), "110");
    EXPECT_EQ(led({{compute, 0, 100}, {transfer, 1, 2, Confidence::Low}, {compute, 1, 9}}), "010");
}

/// If the poll waited for nothing, nothing depends on what it found.
TEST(LedSegments, AreAllBeforeADoubtfulPoll)
{
    EXPECT_EQ(led({{compute, 0, 1000}, {transfer, 1, 2, Confidence::Low, poll_call}, {compute, 1, 9}}), "110");
}

TEST(LedSegments, ReachAsFarAsClocksMayBeOff)
{
    const std::vector<Step> steps = {{compute, 0, 140}, {transfer, 1, 2, Confidence::WithinClocks}, {compute, 1, 9}};
    EXPECT_EQ(led(steps), "010");
    EXPECT_EQ(led(steps, false, 1), "110");
}

/// Rank 1 lacks a processor while rank 0 waits for it, which no segment stands for: the path is there for sure.
TEST(LedSegments, EndWhereThePathChangesItsRank)
{
    EXPECT_EQ(led({{compute, 1, 20}, {mpi, 0, 2, Confidence::Low}, {compute, 0, 9}}), "010");
}

}  // namespace
}  // namespace critpath::report

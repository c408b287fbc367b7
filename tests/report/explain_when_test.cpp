// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// When a stretch takes longer than on its peers, of runs of which that is plain.
#include "analysis/report/explain/table.hpp"
#include "analysis/report/explain/when.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace critpath::report
{
namespace
{

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using namespace tests;

constexpr std::int64_t usual = 2 * ms, slow = 20 * ms;
constexpr std::uint32_t main_path = 0, allreduce = 3;

/// A loop of so many rounds of computation and MPI_Allreduce, always on the path on rank 3, which takes 20 ms in those
/// that `is_slow`, and else 2 ms, as all others do.
struct Loop {
    Loop(std::int64_t rounds, const std::function<bool(std::int64_t)>& is_slow) : profile(one_stretch())
    {
        profile.location_process = {0, 1, 2, 3};
        std::int64_t now = 0, longer_ns = 0;
        model::Stretch& s = profile.stretches[0];
        s.before = s.after = {allreduce};
        s.much_longer = 0;
        for (std::int64_t i = 0; i < rounds; ++i) {
            const std::int64_t length = is_slow(i) ? slow : usual;
            segments.push_back(
                {now, now + length, 0, 3, 3, allreduce, std::uint8_t(model::SegmentKind::Compute), 0, 0});
            now += length;
            segments.push_back({now, now + ms, 0, 3, 3, allreduce, std::uint8_t(model::SegmentKind::Mpi), 0, 0});
            now += ms;
            longer_ns += length - usual;
            s.much_longer += is_slow(i) ? 1 : 0;
        }
        s.gaps = s.looked_at = s.compared = s.occurrences = rounds;
        s.path_ns = s.looked_at_ns = s.compared_ns = now - rounds * ms;
        s.peers_ns = rounds * usual;
        s.processor_ns = longer_ns;
        s.rank_variance = 10;
        s.noise_variance = 90;
        s.costliest_ns = longer_ns > 0 ? slow - usual : 0;
        s.costliest_rank = 3;
        const auto first = std::ranges::find_if(
            segments, [](const model::Segment& segment) { return segment.end - segment.begin == slow; });
        s.costliest_begin_ns = first == segments.end() ? 0 : first->begin;
        s.costliest_length_ns = slow;
        profile.stretch_shares = {{0, {3}, s.path_ns, rounds, longer_ns}};
    }

    void sample(std::int64_t at_ns)
    {
        attributions.push_back({at_ns, 7 * ms, 0, main_path, 3, 1, model::AttributionKind::Sample});
    }
    [[nodiscard]] Explanation explained(Verdict verdict = Verdict::Transient) const
    {
        Explanation e = explain(profile, 0);
        EXPECT_EQ(e.verdict, verdict);
        EXPECT_TRUE(is_of_some_times(e));
        add_times(profile, gaps_on_path(profile, *e.stretch, segments), attributions, e);
        return e;
    }

    /// Of its row for JSON and CSV.
    [[nodiscard]] std::optional<std::int64_t> seconds_of(const Explanation& e, std::string_view field) const
    {
        const Table table = explanation_table(profile, {e}, "the trace");
        const auto column = std::ranges::find(table.columns, field, &Column::key);
        std::optional<std::int64_t> found;
        table.each_row([&](std::span<const Cell> row) {
            const auto index = static_cast<std::size_t>(column - table.columns.begin());
            if (const auto* seconds = index < row.size() ? std::get_if<Seconds>(&row[index]) : nullptr)
                found = seconds->ns;
        });
        return found;
    }

    model::Profile profile;
    std::vector<model::Segment> segments;
    std::vector<model::Attribution> attributions;
};

TEST(ExplainWhen, TellsOnePartOfTheRunFromNowAndThen)
{
    const Loop phase(150, [](std::int64_t i) { return i >= 60 && i < 90; });
    const Explanation e = phase.explained();
    ASSERT_TRUE(e.part_of_run);
    EXPECT_EQ(e.part_of_run->begin_ns, 180 * ms);
    EXPECT_EQ(e.part_of_run->end_ns, 809 * ms);  // 30 of 21 ms each, but for the call behind the last one
    EXPECT_EQ(e.part_of_run->much_longer, 30);
    EXPECT_EQ(e.part_of_run->times, 30);
    const std::string words = e.sentence(phase.profile, "the trace");
    EXPECT_THAT(words,
                HasSubstr("Not always, but mostly in one part of the run (transient, 10 % persistent): 30 of 150 "
                          "times it takes half as long again, or more, 30 of these among the 30 from 0.18 s to "
                          "0.809 s, mostly on rank 3"));
    EXPECT_THAT(words, EndsWith("What it does there: cpreport hotspots --rank 3 --from 0.18 --to 0.809 'the trace'"));
    EXPECT_THAT(e.headline(), EndsWith("transient, mostly in one part of the run"));

    EXPECT_EQ(phase.seconds_of(e, "part_of_run_from_seconds"), 180 * ms);
    EXPECT_EQ(phase.seconds_of(e, "part_of_run_to_seconds"), 809 * ms);
}

/// Who is slow in half of the run is so by rank for half of the variance, more or less.
TEST(ExplainWhen, WhatPersistsForTheMostPartMayBeInOnePartOfTheRun)
{
    Loop half(100, [](std::int64_t i) { return i >= 60; });
    half.profile.stretches[0].rank_variance = half.profile.stretches[0].noise_variance = 50;
    const Explanation e = half.explained(Verdict::PersistentRank);
    ASSERT_TRUE(e.part_of_run);
    EXPECT_EQ(e.part_of_run->times, 40);
    const std::string words = e.sentence(half.profile, "t");
    EXPECT_THAT(words, HasSubstr(" Mostly rank 3 (persistent, 50 %): move work"));
    EXPECT_THAT(words, HasSubstr(" 40 of 100 times it takes half as long again, or more, 40 of these among the 40 from "
                                 "0.18 s to 1.019 s. What it does there: cpreport hotspots --rank 3"));
    EXPECT_THAT(e.headline(), EndsWith("persistent rank, mostly in one part of the run"));
    half.profile.stretches[0].noise_variance = 0;  // always
    EXPECT_FALSE(is_of_some_times(explain(half.profile, 0)));
}

TEST(ExplainWhen, TakesPartsThatBeginOrEndWithTheRun)
{
    EXPECT_TRUE(Loop(150, [](std::int64_t i) { return i < 20; }).explained().part_of_run);
    EXPECT_TRUE(Loop(150, [](std::int64_t i) { return i >= 120; }).explained().part_of_run);
}

/// Of a part, a few times are not slow, and elsewhere one is.
TEST(ExplainWhen, PartsMayHaveExceptions)
{
    const Loop loop(150, [](std::int64_t i) { return i == 20 || (i >= 60 && i < 90 && i != 70 && i != 71); });
    const Explanation e = loop.explained();
    ASSERT_TRUE(e.part_of_run);
    EXPECT_EQ(e.part_of_run->much_longer, 28);
    EXPECT_EQ(e.part_of_run->times, 30);
}

/// Where others use the processors, too, some times are long by noise. These make little of the difference.
TEST(ExplainWhen, PartsAreSeenThroughNoise)
{
    Loop loop(80, [](std::int64_t i) { return i >= 20 && i < 40; });
    for (const std::size_t noisy : {2, 11, 46, 52, 67, 79}) {
        loop.segments[2 * noisy].end += 2 * ms;
        ++loop.profile.stretches[0].much_longer;
    }
    const Explanation e = loop.explained();
    ASSERT_TRUE(e.part_of_run);
    EXPECT_EQ(e.part_of_run->much_longer, 20);
    EXPECT_EQ(e.part_of_run->times, 20);
}

TEST(ExplainWhen, WhatComesAllTheTimeIsNoPart)
{
    const Explanation regular = Loop(150, [](std::int64_t i) { return i % 15 == 7; }).explained();
    EXPECT_FALSE(regular.part_of_run);
    EXPECT_FALSE(Loop(150, [](std::int64_t i) { return i % 2 == 0; }).explained().part_of_run);
    EXPECT_FALSE(
        Loop(150, [](std::int64_t i) { return (i > 20 && i < 40) || (i > 100 && i < 120); }).explained().part_of_run);
    EXPECT_FALSE(Loop(150, [](std::int64_t i) { return i == 80; }).explained().part_of_run);  // once
    Loop once_more(150, [](std::int64_t i) { return i >= 60 && i < 90; });
    once_more.profile.stretches[0].costliest_ns = 300 * ms;  // of 540
    EXPECT_FALSE(once_more.explained().part_of_run);
    EXPECT_THAT(regular.headline(), EndsWith("transient"));
}

/// All ranks take longer in that part, so that it is not where this one takes longer than they do.
TEST(ExplainWhen, PartsMustMakeTheDifference)
{
    Loop loop(150, [](std::int64_t i) { return i >= 60 && i < 90; });
    loop.profile.stretches[0].peers_ns += 400 * ms;
    loop.profile.stretches[0].processor_ns -= 400 * ms;
    loop.profile.stretch_shares[0].longer_ns -= 400 * ms;
    EXPECT_FALSE(loop.explained().part_of_run);
}

/// Calls from several sites that are one place; or a call that begins several stretches.
TEST(ExplainWhen, FindsTheGapsOfAPlace)
{
    Loop loop(10, [](std::int64_t i) { return i > 5; });
    const model::Stretch& s = loop.profile.stretches[0];
    EXPECT_EQ(gaps_on_path(loop.profile, s, loop.segments).size(), 10U);

    loop.profile.call_paths.push_back(loop.profile.call_paths[allreduce]);
    const auto other_site = static_cast<std::uint32_t>(loop.profile.call_paths.size() - 1);
    loop.segments[4].call = other_site;
    EXPECT_EQ(gaps_on_path(loop.profile, s, loop.segments).size(), 10U);

    loop.segments.push_back({500 * ms, 540 * ms, 0, 3, 3, allreduce, std::uint8_t(model::SegmentKind::Compute), 0, 0});
    loop.segments.push_back({540 * ms, 541 * ms, 0, 3, 3, 4, std::uint8_t(model::SegmentKind::Mpi), 0, 0});
    EXPECT_EQ(gaps_on_path(loop.profile, s, loop.segments).size(), 10U);

    loop.profile.stretches[0].path_ns *= 2;
    EXPECT_TRUE(gaps_on_path(loop.profile, s, loop.segments).empty());
}

/// No command for a time of which the report that it makes could tell nothing.
TEST(ExplainWhen, ShowsNoTimeWithoutSamples)
{
    Loop loop(150, [](std::int64_t i) { return i == 50 || i == 100; });
    const auto words = [&] { return loop.explained().sentence(loop.profile, "the trace"); };
    const std::string unknown = "Most of all once on rank 3, 18 ms longer than on its peers, 0.15 s after the run "
                                "began; no sample was taken then";
    EXPECT_THAT(words(), HasSubstr(unknown));
    EXPECT_THAT(words(), Not(HasSubstr("cpreport hotspots")));
    loop.sample(149 * ms);
    loop.sample(171 * ms);
    EXPECT_THAT(words(), HasSubstr(unknown));
    loop.sample(152 * ms);
    EXPECT_THAT(words(), HasSubstr("18 ms longer than on its peers: cpreport hotspots --rank 3 --from 0.15 --to "
                                   "0.17"));
}

/// Samples are not all that is known.
TEST(ExplainWhen, ShowsATimeWithoutAProcessor)
{
    Loop loop(150, [](std::int64_t i) { return i == 50; });
    loop.attributions.push_back({151 * ms, 9 * ms, 0, main_path, 3, 0, model::AttributionKind::Computation});
    EXPECT_FALSE(loop.explained().is_costliest_known);
    loop.attributions[0].ns = 11 * ms;
    EXPECT_TRUE(loop.explained().is_costliest_known);
}

}  // namespace
}  // namespace critpath::report

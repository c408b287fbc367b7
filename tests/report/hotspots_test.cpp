// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The figures behind the tables, against their formulas.
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/inclusive.hpp"
#include "analysis/report/statistics.hpp"
#include "tests/report/stretches.hpp"
#include "tests/report/wilson.hpp"
#include "tests/result/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace critpath::report
{
namespace
{

const Hotspot& find(const Hotspots& hotspots, const std::string& name)
{
    const auto found = std::find_if(hotspots.items.begin(), hotspots.items.end(),
                                    [&](const Hotspot& item) { return item.name == name; });
    EXPECT_NE(found, hotspots.items.end()) << name;
    return *found;
}

void expect_interval(const Hotspot& item, const Interval& interval)
{
    EXPECT_NEAR(item.share.low, interval.low, 1e-9) << item.name;
    EXPECT_NEAR(item.share.high, interval.high, 1e-9) << item.name;
}

// A chain of calls that is as long as there are call paths: what takes a step for each caller of each would not end.
TEST(Hotspots, DeepRecursion)
{
    constexpr std::uint32_t depth = 100'000;
    constexpr std::uint32_t functions = 3;  // call each other in turn
    model::Profile p;
    p.processes.push_back({"rank 0", "node", 0, 0, 0, 0, 0, 0});
    p.rows = {{model::RowKind::Region, "even", "", "", 0},
              {model::RowKind::Region, "odd", "", "", 0},
              {model::RowKind::Region, "last", "", "", 0}};
    for (std::uint32_t i = 0; i < depth; ++i) {
        p.call_paths.push_back({{i % functions}, i == 0 ? model::CallPathId::none() : model::CallPathId{i - 1}});
        p.path.push_back({{i}, {0}, 10, 0});
        p.totals.push_back({{i}, model::ProcessId::none(), 20, 0});
    }
    const Hotspots paths = by_call_path(p, {});
    for (std::uint32_t i = 0; i < depth; ++i) {
        ASSERT_EQ(paths.items[i].path_ns, 10 * std::int64_t{depth - i});
        ASSERT_EQ(paths.items[i].total_ns, 20 * std::int64_t{depth - i});
    }
    const Hotspots inclusive = by_function_inclusive(p);
    for (std::uint32_t i = 0; i < functions; ++i)
        EXPECT_EQ(inclusive.items[i].path_ns, 10 * std::int64_t{depth - i})
            << "a function that calls itself counts once";

    // Rows are those that have time themselves; their text does not grow with what is above them.
    constexpr std::uint32_t rows = 1000;
    std::erase_if(p.path, [](const model::CallPathTime& time) { return time.call_path.value % (depth / rows) != 0; });
    const Request request{"", "", Arguments({{"--top", "0"}, {"--sort", "path"}}, {})};
    const Document document = call_path_view({p, p, request, {}});
    ASSERT_EQ(document.tables.size(), 1U);
    std::uint32_t found = 0;
    std::string last;
    document.tables[0].each_row([&](std::span<const Cell> row) {
        ++found;
        last = std::get<std::string>(row[1]);
        ASSERT_LT(std::get<std::string>(row[0]).size() + last.size(), 3000U);
    });
    EXPECT_EQ(found, rows);
    EXPECT_EQ(last.substr(0, 14), "even;odd;last;");
    EXPECT_NE(last.find(";[99,645 more];"), std::string::npos) << last;
    EXPECT_EQ(last.substr(last.size() - 14), ";odd;last;even") << last;
}

// The first function of a chain tells it from others below the same caller.
TEST(Hotspots, ChainsOfCallsAreWhole)
{
    const std::string first = "assemble_the_matrix_of_all_cells", second = "assemble_the_right_hand_side";
    model::Profile p;
    p.processes.push_back({"rank 0", "node", 0, 0, 0, 0, 0, 0});
    for (const std::string& name : {std::string("main"), first, second, std::string("step"), std::string("kernel")})
        p.rows.push_back({model::RowKind::Region, name, "", "", 0});
    p.call_paths = {{{0}, model::CallPathId::none()}, {{1}, {0}}, {{3}, {1}}, {{4}, {2}}, {{2}, {0}}, {{4}, {4}}};
    p.path = {{{3}, {0}, 20, 0}, {{5}, {0}, 10, 0}};
    const Request request{"", "", Arguments({{"--top", "0"}, {"--sort", "path"}}, {})};
    std::vector<std::string> names;
    call_path_view({p, p, request, {}}).tables[0].each_row([&](std::span<const Cell> row) {
        names.push_back(std::get<std::string>(row[0]));
    });
    EXPECT_EQ(names, (std::vector<std::string>{"main", "├ " + first + " > … > kernel", "└ " + second + " > kernel"}));
}

TEST(Hotspots, SharesAndErrorsOfFunctions)
{
    const Hotspots hotspots = by_function(samples::sampled_run().profile);
    EXPECT_EQ(hotspots.path_ns, 10'000'000'000);
    EXPECT_EQ(hotspots.path_samples, 8202U);
    const Hotspot& exchange = find(hotspots, "exchange");
    EXPECT_TRUE(exchange.is_estimate);
    EXPECT_DOUBLE_EQ(exchange.share.value, 0.15);
    expect_interval(exchange, expected(0.15, 8202, 0.85));
    EXPECT_EQ(exchange.total_ns, 5'000'000'000);
    // Two samples, which could have been none.
    EXPECT_TRUE(find(hotspots, "rare").is_below_error());
    EXPECT_FALSE(exchange.is_below_error());
    // What the samples leave over is as uncertain as what they find.
    expect_interval(find(hotspots, "[not sampled]"), expected(0.0298, 8202, 0.85));

    const Hotspot& transfer = find(hotspots, "[transfer]");
    EXPECT_TRUE(transfer.share.exact);
    EXPECT_EQ(transfer.total_ns, std::nullopt);
    EXPECT_TRUE(find(hotspots, "MPI_Allreduce").share.exact);
    EXPECT_EQ(find(hotspots, "opal_progress").path_ns, 0);
}

// They do not expire between the kernel's ticks: what no sample stands for may be short runs of any function.
TEST(Hotspots, OfTimersNobodyKnowsWhatIsNotSampled)
{
    model::Profile profile = samples::sampled_run().profile;
    profile.properties["event"] = "cpu-timer";
    const Hotspots hotspots = by_function(profile);
    const Interval sampled = expected(0.15, 8202, 0.85 - 0.0298);
    expect_interval(find(hotspots, "exchange"), {sampled.low, sampled.high + 0.0298});
    expect_interval(find(hotspots, "[not sampled]"), expected(0.0298, 8202, 0.85));
    EXPECT_TRUE(find(hotspots, "MPI_Allreduce").share.exact);
}

TEST(Hotspots, RowsBelowFourSamplesAreBelowTheirError)
{
    // Where k samples of many were found, there are none in one of exp(k) other runs; ln(1 / 0.025) is 3.7.
    Hotspots hotspots;
    hotspots.path_ns = hotspots.domain_ns = 1000;
    hotspots.path_samples = hotspots.independent_samples = 1000;
    for (std::int64_t k = 1; k < 10; ++k) {
        Hotspot item;
        item.path_ns = item.sampled_ns = k;
        hotspots.add_share(item);
        EXPECT_EQ(item.is_below_error(), k < 4) << k;
    }
}

TEST(Hotspots, ModulesAreSumsOfTheirFunctions)
{
    const model::Profile profile = samples::sampled_run().profile;
    const Hotspots modules = by_module(profile);
    const Hotspot& app = find(modules, "/home/user/bin/halo");
    EXPECT_EQ(app.path_ns, 7'502'000'000);
    EXPECT_EQ(app.path_samples, 7502U);
    EXPECT_EQ(app.functions, 3);
    EXPECT_EQ(app.total_ns, 19'009'000'000);
    // The error of the sum, not the sum of the errors.
    expect_interval(app, expected(0.7502, 8202, 0.85));
    EXPECT_EQ(find(modules, "MPI").path_ns, 600'000'000);
    EXPECT_EQ(find(modules, "[transfer]").kind, "pseudo");

    std::int64_t sum = 0;
    for (const Hotspot& module : modules.items)
        sum += module.path_ns;
    EXPECT_EQ(sum, by_function(profile).path_ns);
}

TEST(Hotspots, ImbalanceIsAgainstTheMeanOfTheRanks)
{
    const Hotspots hotspots = by_function(samples::sampled_run().profile);
    EXPECT_EQ(find(hotspots, "exchange").imbalance_ns, 1'500'000'000 - 5'000'000'000 / 4);
    EXPECT_EQ(find(hotspots, "exchange").off_path_ns, 3'500'000'000);
    EXPECT_EQ(find(hotspots, "opal_progress").imbalance_ns, -16'500'000'000 / 4);
    // In calls of MPI ranks also wait, which the path never does.
    EXPECT_EQ(find(hotspots, "MPI_Allreduce").imbalance_ns, std::nullopt);
    EXPECT_EQ(find(hotspots, "[transfer]").imbalance_ns, std::nullopt);
}

TEST(Lists, ByImbalanceOnlyWhatCompares)
{
    Hotspots hotspots = by_function(samples::sampled_run().profile);
    const Coverage coverage = select(hotspots.items, "imbalance", 0);
    ASSERT_GT(coverage.rows, 2U);
    for (std::size_t i = 0; i < hotspots.items.size(); ++i) {
        ASSERT_TRUE(hotspots.items[i].imbalance_ns) << hotspots.items[i].name;
        EXPECT_GT(hotspots.items[i].path_ns, 0);
        EXPECT_LE(*hotspots.items[i].imbalance_ns, *hotspots.items[i > 0 ? i - 1 : 0].imbalance_ns);
    }
    EXPECT_EQ(coverage.rows, hotspots.items.size());
}

TEST(Hotspots, SamplesOfSeveralThreadsAtOneTimeCountOnce)
{
    model::Profile profile = samples::sampled_run().profile;
    profile.facts["independent_samples"] = 8202 / 2;
    expect_interval(find(by_function(profile), "exchange"), expected(0.15, 8202 / 2, 0.85));
}

TEST(Hotspots, ThePathOfOneThreadDoesNotCompareWithThatOfSeveral)
{
    model::Profile profile = samples::sampled_run().profile;
    profile.totals[0].other_threads_ns = 1;
    EXPECT_EQ(find(by_function(profile), "exchange").imbalance_ns, std::nullopt);
    EXPECT_NE(find(by_function(profile), "memcpy").imbalance_ns, std::nullopt);
    const Hotspots of_a_rank = by_function(profile, {{1}, ""});
    EXPECT_EQ(find(of_a_rank, "memcpy").imbalance_ns, std::nullopt);
    EXPECT_EQ(find(of_a_rank, "memcpy").off_path_ns, std::nullopt);
}

TEST(Hotspots, ARankHasItsPartOfThePath)
{
    const model::Profile profile = samples::sampled_run().profile;
    std::int64_t sum = 0;
    for (std::uint32_t rank = 0; rank < profile.processes.size(); ++rank) {
        const Hotspots hotspots = by_function(profile, {{rank}, ""});
        EXPECT_EQ(hotspots.path_ns, 10'000'000'000) << "shares are of the whole path";
        for (const Hotspot& item : hotspots.items)
            sum += item.path_ns;
    }
    EXPECT_EQ(sum, 10'000'000'000);
    EXPECT_EQ(find(by_function(profile, {{1}, "halo"}), "memcpy").path_ns, 0);
    EXPECT_EQ(find(by_function(profile, {{2}, "libc"}), "memcpy").path_ns, 700'000'000);
}

TEST(Hotspots, CallPathsHaveTheTimeOfWhatTheyCall)
{
    const model::Profile profile = samples::sampled_run().profile;
    const Hotspots hotspots = by_call_path(profile);
    ASSERT_EQ(hotspots.items.size(), profile.call_paths.size());
    std::int64_t roots = 0;
    for (std::size_t i = 0; i < hotspots.items.size(); ++i) {
        const model::CallPathId parent = profile.call_paths[i].parent;
        if (!parent.valid())
            roots += hotspots.items[i].path_ns;
        else
            EXPECT_LE(hotspots.items[i].path_ns, hotspots.items[parent.value].path_ns);
    }
    EXPECT_EQ(roots, hotspots.path_ns);
    // exchange 1.5, memcpy 0.7, MPI_Send 0.1, and the transfer below MPI_Recv 0.8, of which samples found 2.2.
    const Hotspot& exchange = find(hotspots, "exchange");
    EXPECT_EQ(exchange.path_ns, 3'100'000'000);
    const Interval sampled = expected(0.22, 8202, 0.85);
    const double unsampled = 0.0798;  // anybody may have it
    expect_interval(exchange, {sampled.low + 0.09, sampled.high + 0.09 + unsampled});
    EXPECT_EQ(find(hotspots, "MPI_Recv").path_ns, 800'000'000);
    EXPECT_TRUE(find(hotspots, "MPI_Recv").share.exact);
}

TEST(Hotspots, AFunctionThatCallsItselfCountsOnce)
{
    model::Profile profile;
    profile.processes.resize(2);
    profile.rows = {{model::RowKind::Sampled, "f", "/app", "", 0}, {model::RowKind::Sampled, "g", "/app", "", 0}};
    const auto path = [](std::uint32_t id) { return model::CallPathId{id}; };
    profile.call_paths = {{{0}, model::CallPathId::none()}, {{1}, path(0)}, {{0}, path(1)}};  // f, f > g, f > g > f
    profile.path = {{path(0), {0}, 1, 1}, {path(1), {0}, 10, 10}, {path(2), {0}, 100, 100}};
    const Hotspots inclusive = by_function_inclusive(profile);
    EXPECT_EQ(find(inclusive, "f").path_ns, 111);
    EXPECT_EQ(find(inclusive, "g").path_ns, 110);
    EXPECT_EQ(find(by_function(profile), "f").path_ns, 101);
}

TEST(Hotspots, WhatIsExactIsNotBelowTheError)
{
    Hotspot item;
    item.is_estimate = true;
    item.could_be_missed = true;
    item.path_ns = 10;
    item.sampled_ns = 10;
    EXPECT_TRUE(item.is_below_error());
    item.sampled_ns = 9;
    EXPECT_FALSE(item.is_below_error());
}

// Ten functions with a sample each: another run may have others, but these are all that is known.
TEST(Lists, FewSamplesAreShownAndSaidToBeFew)
{
    const auto list = [](std::vector<std::int64_t> hits, std::int64_t unsampled) {
        Hotspots hotspots;
        for (const std::int64_t k : hits) {
            Hotspot& item = hotspots.items.emplace_back();
            item.path_samples = static_cast<std::uint64_t>(k);
            item.path_ns = item.sampled_ns = k;
            hotspots.path_samples += item.path_samples;
            hotspots.domain_ns += k;
        }
        Hotspot& rest = hotspots.items.emplace_back();
        rest.path_ns = rest.sampled_ns = unsampled;
        hotspots.path_ns = hotspots.domain_ns += unsampled;
        hotspots.independent_samples = hotspots.path_samples;
        for (Hotspot& item : hotspots.items)
            hotspots.add_share(item);
        return select(hotspots.items, "path", 0);
    };
    const Coverage even = list({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 0);
    EXPECT_TRUE(even.is_undecided);
    EXPECT_EQ(even.rows, 10U);
    const Coverage uneven = list({3, 2, 2, 2, 2, 1, 1, 1}, 0);
    EXPECT_TRUE(uneven.is_undecided);
    EXPECT_EQ(uneven.rows, 5U);
    EXPECT_EQ(uneven.below_error, 3U);
    EXPECT_EQ(uneven.below_error_ns, 3);
    // The rest is no function: if it alone is sure, nothing is known.
    EXPECT_TRUE(list({1, 1}, 10).is_undecided);
    EXPECT_EQ(list({1, 1}, 10).rows, 3U);
    const Coverage sure = list({8, 1, 1}, 0);
    EXPECT_FALSE(sure.is_undecided);
    EXPECT_EQ(sure.rows, 1U);
    EXPECT_EQ(sure.below_error, 2U);
    EXPECT_EQ(sure.below_error_ns, 2);
    EXPECT_EQ(sure.shown_path_ns, 8);
    EXPECT_FALSE(list({1}, 0).is_undecided) << "all that there is";
    EXPECT_FALSE(list({}, 10).is_undecided);
}

// Of 90 samples, 14 are no chance, however little of the time was sampled.
TEST(Hotspots, WhatIsNotSampledMakesNoSampleOfOthersAChance)
{
    for (const bool are_timers : {true, false}) {
        model::Profile p;
        p.properties["event"] = are_timers ? "cpu-timer" : "cpu-clock";
        p.processes.push_back({"rank 0", "node", 0, 0, 0, 0, 0, 0});
        for (const char* name : {"often", "seldom", "rare"})
            p.rows.push_back(tests::sampled(name));
        p.rows.push_back(tests::pseudo("[not sampled]"));
        for (std::uint32_t i = 0; i < 4; ++i)
            p.call_paths.push_back({{i}, model::CallPathId::none()});
        p.path = {{{0}, {0}, 74 * tests::ms, 74},
                  {{1}, {0}, 14 * tests::ms, 14},
                  {{2}, {0}, 2 * tests::ms, 2},
                  {{3}, {0}, 310 * tests::ms, 0}};
        p.facts["independent_samples"] = 90;
        for (const Hotspots& hotspots : {by_function(p), by_function_inclusive(p), by_call_path(p)}) {
            EXPECT_FALSE(find(hotspots, "seldom").is_below_error());
            EXPECT_TRUE(find(hotspots, "rare").is_below_error());
            if (are_timers) {
                EXPECT_NEAR(find(hotspots, "seldom").share.low, expected(14.0 / 400, 90, 90.0 / 400).low, 1e-9);
                EXPECT_NEAR(hotspots.most_unseen(), (310 + 90 * 3.8415 / (90 + 3.8415)) / 400, 1e-4);
            }
        }
    }
}

TEST(Hotspots, ALargeUnsampledRestIsExplained)
{
    model::Profile profile = samples::sampled_run().profile;
    EXPECT_EQ(unsampled_note(profile, by_function(profile)), "");
    for (model::CallPathTime& time : profile.path) {
        if (profile.row(time.call_path).name == "[not sampled]")
            time.ns *= 10;
    }
    EXPECT_EQ(unsampled_note(profile, by_function(profile)).find("[not sampled]: "), 0U);
    EXPECT_EQ(unsampled_note(profile, by_module(profile)).find("[not sampled]: "), 0U);
    EXPECT_EQ(unsampled_note(profile, by_function(profile)).find("timers"), std::string::npos);
    EXPECT_THAT(unsampled_note(profile, by_function(profile)), testing::EndsWith("or was not sampled."));
    model::Profile switched = profile;
    switched.facts["preempted_ns"] = 1;
    EXPECT_EQ(unsampled_note(switched, by_function(switched)),
              "[not sampled]: the process had a processor, but no sample says where it was.");
    switched.facts["wait_respite_ns"] = 980'000'000;
    EXPECT_EQ(unsampled_note(switched, by_function(switched)),
              "[not sampled]: for 2.000 s or more, the process had a processor, but no sample says where it was; the "
              "rest may be where it gave up its processor too often to be sampled.");
    switched.facts["lost_samples"] = 1;
    EXPECT_THAT(unsampled_note(switched, by_function(switched)), testing::EndsWith("or was not sampled."));
    profile.properties["incomplete"] = "no MPI_Finalize: 0";
    EXPECT_THAT(unsampled_note(profile, by_function(profile)), testing::EndsWith("or was not sampled."));
    profile.properties["incomplete"] = "died: 0,2-3; no MPI_Finalize: 1";
    EXPECT_THAT(
        unsampled_note(profile, by_function(profile)),
        testing::EndsWith(
            "or was not sampled. Ranks 0,2-3 died: their last samples (16 of each thread, or some more) may be lost."));
    profile.properties["incomplete"] = "died: 1";
    EXPECT_THAT(lost_samples_note(profile), testing::StartsWith("Rank 1 died: its last samples "));
}

TEST(Hotspots, DoubtIsSaidWhereItIsMoreThanAPercent)
{
    using tests::ms;
    model::Profile profile;
    profile.facts = {{"path_ns", 1000 * ms}, {"low_confidence_ns", 8 * ms}, {"led_by_doubt_ns", 9 * ms}};
    EXPECT_EQ(doubt_note(profile, "the trace"), "");
    profile.facts["led_by_doubt_ns"] = 226 * ms;
    EXPECT_EQ(doubt_note(profile, "the trace").find("22.6 % of the path is where doubtful decisions put it"), 0U);
    EXPECT_THAT(
        doubt_note(profile, "the trace"),
        testing::EndsWith("; some of it is in doubt (0.8 % of the path): cpreport path --doubtful 'the trace'"));
    profile.facts["low_confidence_segments"] = 12;
    EXPECT_THAT(doubt_note(profile, "the trace"),
                testing::EndsWith("; 12 of its segments are in doubt (0.8 % of the path): cpreport path "
                                  "--doubtful 'the trace'"));
    EXPECT_EQ(doubt_note({}, "the trace"), "");
    profile.properties["rules"] = "arrival";
    EXPECT_EQ(doubt_note(profile, "the trace").find("22.6 %"), 0U);
    profile.properties["rules"] = "paper";
    EXPECT_THAT(doubt_note(profile, "the trace"), testing::StartsWith("Replayed by --rules=paper, to compare: "));
}

/// Rows and what is said to be missing are no more than there was.
TEST(Hotspots, NoMoreIsMissingThanRanksHaveLivedFor)
{
    using tests::ms;
    model::Profile profile;
    profile.processes.push_back({"rank 0", "node", 1000 * ms, 900 * ms, 0, 0, 0, 0});
    profile.locations = {"rank 0"};
    profile.rows = {{model::RowKind::Mpi, "MPI_Recv", "MPI", "", 0}, {model::RowKind::Sampled, "poll", "", "", 0}};
    profile.call_paths = {{{0}, model::CallPathId::none()}, {{1}, model::CallPathId::none()}};
    profile.totals = {{{0}, model::ProcessId::none(), 900 * ms, 0}, {{1}, model::ProcessId::none(), 700 * ms, 100}};
    profile.facts = {{"wait_respite_ns", 350 * ms}, {"respite_ns", 10 * ms}};
    EXPECT_THAT(respite_note(profile, InsideOfCalls::OfTheLibrary),
                testing::StartsWith("All ranks: without 0.290 s of waiting in MPI and 0.010 s elsewhere, "));
    profile.locations.emplace_back("rank 0 thread 1");
    EXPECT_THAT(respite_note(profile, InsideOfCalls::OfTheLibrary),
                testing::StartsWith("All ranks: without 0.350 s of waiting in MPI"));
}

TEST(Hotspots, RespitesAreSaidWhereTheyWere)
{
    using tests::ms;
    model::Profile profile;
    EXPECT_EQ(respite_note(profile, InsideOfCalls::OfTheLibrary), "");
    profile.facts = {{"wait_respite_ns", 2 * ms}, {"respite_ns", 3 * ms}};
    EXPECT_EQ(respite_note(profile, InsideOfCalls::OfTheLibrary)
                  .find("All ranks: without 0.002 s of waiting in MPI and 0.003 s elsewhere, "),
              0U);
    profile.facts["respite_ns"] = 0;
    EXPECT_EQ(respite_note(profile, InsideOfCalls::OfTheLibrary).find("All ranks: without 0.002 s of waiting in MPI, "),
              0U);
    profile.facts = {{"respite_ns", 3 * ms}};
    EXPECT_EQ(
        respite_note(profile, InsideOfCalls::OfTheLibrary).find("All ranks: without 0.003 s outside of waits in MPI, "),
        0U);

    // Of calls, the time is known without samples.
    profile.facts["wait_respite_ns"] = 2 * ms;
    EXPECT_EQ(respite_note(profile, InsideOfCalls::OfTheCall).find("All ranks: without 0.003 s outside of waits"), 0U);
    profile.facts["respite_ns"] = 0;
    EXPECT_EQ(respite_note(profile, InsideOfCalls::OfTheCall), "");
}

TEST(Hotspots, TimersKnowNothingOfTimeOffTheProcessor)
{
    model::Profile profile = samples::sampled_run().profile;
    EXPECT_TRUE(knows_time_off_processor(profile));
    profile.properties["event"] = "cpu-timer";
    EXPECT_FALSE(knows_time_off_processor(profile));
    profile.properties.erase("event");
    EXPECT_FALSE(knows_time_off_processor(profile));
}

/// Half of the path is a function that samples have found, the other half a call of MPI; but no sample is in it.
model::Profile without_own_samples()
{
    model::Profile p;
    p.processes.push_back({"rank 0", "node", 0, 0, 0, 0, 0, 0});
    p.rows = {{model::RowKind::Sampled, "solve", "/bin/app", "", 0}, {model::RowKind::Mpi, "MPI_Send", "MPI", "", 0}};
    p.call_paths = {{{0}, model::CallPathId::none()}, {{1}, {0}}};
    p.path = {{{0}, {0}, 500, 0}, {{1}, {0}, 500, 0}};
    return p;
}

TEST(Hotspots, WhatOnlySamplesOfElsewhereTellMayBeAnyPartOfTheComputation)
{
    model::Profile p = without_own_samples();
    p.properties["event"] = "cpu-clock";
    const Hotspots hotspots = by_function(p);
    const Hotspot& solve = find(hotspots, "solve");
    EXPECT_TRUE(solve.is_estimate);
    EXPECT_EQ(solve.share.value, 0.5);
    expect_interval(solve, {0, 0.5});
    EXPECT_TRUE(find(hotspots, "MPI_Send").share.exact);
}

TEST(Hotspots, FunctionsOfARunWithoutSamplesAreExactWhateverTheirKind)
{
    const Hotspots hotspots = by_function(without_own_samples());
    EXPECT_TRUE(find(hotspots, "solve").share.exact);
    EXPECT_FALSE(find(hotspots, "solve").is_below_error());
}

TEST(Hotspots, WithoutSamplesEverythingIsExact)
{
    const Hotspots hotspots = by_function(samples::traced_run().profile);
    for (const Hotspot& item : hotspots.items) {
        EXPECT_TRUE(item.share.exact) << item.name;
        EXPECT_FALSE(item.is_below_error()) << item.name;
    }
    EXPECT_EQ(find(hotspots, "MPI_Recv").total_ns, 29'000'000);
}

/// One rank in main > exchange > MPI_Recv, for 500 ns, of which it was preempted for 100 ns. Samples found 300 of the
/// rest in the library, 60 of them in a function that works outside of calls, too. The path has all but 150 ns of the
/// call.
model::Profile run_with_calls()
{
    const model::ProcessId all = model::ProcessId::none();
    model::Profile p;
    p.processes.push_back({"rank 0", "node", 1500, 500, 1350, 0, 0, 0});
    p.properties["event"] = "cpu-clock";
    p.rows = {{model::RowKind::Sampled, "main", "/app", "", 0},
              {model::RowKind::Sampled, "exchange", "/app", "", 0},
              {model::RowKind::Mpi, "MPI_Recv", "MPI", "", 0},
              {model::RowKind::Pseudo, "[preempted]", "", "", 0},
              {model::RowKind::Sampled, "poll", "/usr/libmpi.so", "", 0},
              {model::RowKind::Sampled, "memcpy", "/usr/libc.so", "", 0}};
    constexpr model::CallPathId none = model::CallPathId::none(), main{0}, exchange{1}, call{2}, off{3}, poll{4},
                                copy{5};
    p.call_paths = {{{0}, none}, {{1}, main}, {{2}, exchange}, {{3}, call}, {{4}, exchange}, {{5}, exchange}};
    p.path = {{main, {0}, 800, 8}, {call, {0}, 250, 0}, {off, {0}, 100, 0}, {copy, {0}, 200, 10}};
    p.totals = {{main, all, 800, 8},
                {call, all, 400, 0},
                {off, all, 100, 0},
                {poll, all, 240, 12, 0, 0, 240},
                {copy, all, 260, 13, 130, 0, 60}};
    p.total_addresses = {{poll, 0x10, 240, 12}, {copy, 0x20, 130, 6}, {copy, 0x24, 130, 7}};
    return p;
}

// With those that it calls, a row has all that these have; and no row has less than its path time, which is a part.
TEST(CallsDivided, TheInsideOfACallIsOfTheCall)
{
    model::Profile p = run_with_calls();
    divide_calls(p, InsideOfCalls::OfTheCall);
    for (int times = 0; times < 2; ++times) {
        const Hotspots hotspots = by_function(p);
        EXPECT_EQ(hotspots.total_ns, 1500) << "a moment of the thread counts once";
        EXPECT_EQ(find(hotspots, "MPI_Recv").total_ns, 400);
        EXPECT_EQ(find(hotspots, "[preempted]").total_ns, 100);
        EXPECT_EQ(find(hotspots, "poll").total_ns, std::nullopt);
        EXPECT_EQ(find(hotspots, "memcpy").total_ns, 200);
        EXPECT_EQ(find(hotspots, "memcpy").total_samples, 10U);
        const Hotspots inclusive = by_function_inclusive(p);
        EXPECT_EQ(find(inclusive, "main").total_ns, 1500);
        EXPECT_EQ(find(inclusive, "exchange").total_ns, 700);
        EXPECT_EQ(find(inclusive, "MPI_Recv").total_ns, 500);
        const Hotspots paths = by_call_path(p);
        for (std::size_t i = 0; i < paths.items.size(); ++i) {
            EXPECT_GE(paths.items[i].total_ns.value_or(0), paths.items[i].path_ns) << i;
            const model::CallPathId caller = p.call_paths[i].parent;
            if (!caller.valid())
                continue;
            EXPECT_GE(paths.items[caller.value].total_ns.value_or(0), paths.items[i].total_ns.value_or(0)) << i;
        }
        std::int64_t of_modules = 0;
        for (const Hotspot& module : by_module(p).items)
            of_modules += module.total_ns.value_or(0);
        EXPECT_EQ(of_modules, 1500);
        divide_calls(p, InsideOfCalls::OfTheCall);  // changes nothing
    }
    ASSERT_EQ(p.total_addresses.size(), 2U);
    EXPECT_EQ(p.total_addresses[0].ns, 100);
    EXPECT_EQ(p.total_addresses[1].samples, 5U);
}

TEST(CallsDivided, OrOfTheLibraryAsAnyListOfSamplesHasIt)
{
    model::Profile p = run_with_calls();
    divide_calls(p, InsideOfCalls::OfTheLibrary);
    const Hotspots hotspots = by_function(p);
    EXPECT_EQ(find(hotspots, "MPI_Recv").total_ns, std::nullopt);
    EXPECT_EQ(find(hotspots, "poll").total_ns, 240);
    EXPECT_EQ(find(hotspots, "memcpy").total_ns, 260);
    EXPECT_EQ(hotspots.total_ns, 1400);
    EXPECT_EQ(p.total_addresses.size(), 3U);
}

// Nobody has looked into its calls.
TEST(CallsDivided, WithoutSamplesCallsKeepTheirTime)
{
    model::Profile p = samples::traced_run().profile;
    divide_calls(p, InsideOfCalls::OfTheLibrary);
    EXPECT_EQ(find(by_function(p), "MPI_Recv").total_ns, 29'000'000);
}

}  // namespace
}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What rows with the time of all that they call know, and what they do not, against what was put together by hand.
#include "analysis/report/caller_notes.hpp"
#include "analysis/report/inclusive.hpp"
#include "tests/report/one_rank.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::report
{
namespace
{

using model::CallPathId;
using model::RowKind;

constexpr CallPathId uncalled = CallPathId::none();

Hotspot function(OneRank& run, const std::string& name, const Selection& selection = {})
{
    const Hotspots all = by_function_inclusive(run.profile(), selection);
    return *std::ranges::find_if(all.items, [&](const Hotspot& item) { return item.name == name; });
}

void expect_parts(const Hotspot& item, std::int64_t path, std::int64_t may_lack, std::int64_t may_have)
{
    EXPECT_EQ(item.path_ns, path) << item.name;
    EXPECT_EQ(item.may_lack_ns, may_lack) << item.name;
    EXPECT_EQ(item.may_have_ns, may_have) << item.name;
}

// 300 of 1000 ns the thread was blocked, in the function that it was in before and after; it may have been in another.
TEST(Inclusive, WhereAThreadWasBlockedIsAGuess)
{
    OneRank run;
    const CallPathId main = run.add("main", run.add("_start", uncalled, 0), 0);
    const CallPathId solve = run.add("solve", main, 200);
    run.pseudo("[blocked]", solve, 300);
    run.add("read", main, 500);
    expect_parts(function(run, "_start"), 1000, 0, 0);
    expect_parts(function(run, "main"), 1000, 0, 0);
    expect_parts(function(run, "solve"), 500, 300, 0);
    expect_parts(function(run, "read"), 500, 0, 300);
    const Hotspot blocked = function(run, "[blocked]");
    expect_parts(blocked, 300, 0, 0);
    EXPECT_TRUE(blocked.share.exact);
    const Hotspot solve_item = function(run, "solve");
    EXPECT_FALSE(solve_item.share.exact);
    EXPECT_LE(solve_item.share.low, 0.2);
    EXPECT_GE(function(run, "read").share.high, 0.8);

    const Hotspots paths = by_call_path(run.profile());
    expect_parts(paths.items[1], 1000, 0, 0);
    expect_parts(paths.items[2], 500, 300, 0);
    expect_parts(paths.items[3], 300, 300, 0);
    expect_parts(paths.items[4], 500, 0, 300);
    ASSERT_EQ(caller_notes(paths, run.profile()).size(), 1U);
    EXPECT_NE(caller_notes(paths, run.profile())[0].find("of 30.0 % of the path it is a guess"), std::string::npos);
}

// As the test before, but that it was found in that function for 200 of the 300 ns.
TEST(Inclusive, WhereAThreadWasFoundBlockedIsNoGuess)
{
    OneRank run;
    const CallPathId main = run.add("main", run.add("_start", uncalled, 0), 0);
    const CallPathId solve = run.add("solve", main, 200);
    const CallPathId blocked = run.pseudo("[blocked]", solve, 300);
    run.add("read", main, 500);
    for (model::CallPathTime& time : run.profile().path)
        time.found_ns = time.call_path == blocked ? 200 : 0;
    expect_parts(function(run, "solve"), 500, 100, 0);
    expect_parts(function(run, "read"), 500, 0, 100);
    EXPECT_NE(caller_notes(by_call_path(run.profile()), run.profile())[0].find("of 10.0 % of the path it is a guess"),
              std::string::npos);
}

// It was blocked in two functions: where that is a guess, it may have been in the other one, with what that calls or
// without.
TEST(Inclusive, WhatWasBlockedElsewhereMayHaveBeenBlockedHere)
{
    OneRank run;
    const CallPathId main = run.add("main", run.add("_start", uncalled, 0), 100);
    const CallPathId in_main = run.pseudo("[blocked]", main, 200);
    const CallPathId in_nap = run.pseudo("[blocked]", run.add("nap", main, 100), 600);
    for (model::CallPathTime& time : run.profile().path)
        time.found_ns = time.call_path == in_nap ? 500 : 0;
    const Hotspots paths = by_call_path(run.profile());
    expect_parts(paths.items[in_nap.value], 600, 100, 200);
    expect_parts(paths.items[in_main.value], 200, 200, 100);
    EXPECT_GE(paths.items[in_nap.value].share.high, 0.8);
    expect_parts(function(run, "nap"), 700, 100, 200);
}

// In a call of MPI it is known where the thread was; and of a thread of its own, nothing can be in main.
TEST(Inclusive, WhatIsKnownIsExact)
{
    OneRank run;
    const CallPathId main = run.add("main", uncalled, 100);
    run.pseudo("[blocked]", run.add("MPI_Recv", main, 100, RowKind::Mpi), 300);
    const CallPathId worker = run.add("worker", uncalled, 300);
    run.pseudo("[blocked]", worker, 200);
    expect_parts(function(run, "main"), 500, 0, 0);
    expect_parts(function(run, "worker"), 500, 0, 0);
    EXPECT_TRUE(function(run, "MPI_Recv").share.exact);
}

// It is preempted at any time, so that the samples around tell how much of it is whose, as they do of the work.
TEST(Inclusive, PreemptionIsAsSureAsSamples)
{
    OneRank run;
    const CallPathId main = run.add("main", uncalled, 0);
    const CallPathId solve = run.add("solve", main, 200);
    run.pseudo("[preempted]", solve, 200);
    run.add("read", main, 600);
    const Hotspot solve_item = function(run, "solve");
    expect_parts(solve_item, 400, 0, 0);
    EXPECT_EQ(solve_item.sampled_ns, 400);
    // 200 samples say so, where 400 of 1000 are not certain: Wilson's interval.
    EXPECT_NEAR(solve_item.share.low, 0.3346, 1e-4);
    EXPECT_NEAR(solve_item.share.high, 0.4692, 1e-4);
    EXPECT_TRUE(function(run, "[preempted]").share.exact);
}

// Of what is preempted below a function, samples tell which part of all that is; that is exact, and so is a bound.
TEST(Inclusive, NoMoreIsPreemptedBelowAFunctionThanInAll)
{
    OneRank run;
    const CallPathId main = run.add("main", uncalled, 0);
    const CallPathId solve = run.add("solve", main, 200);
    const CallPathId in_solve = run.pseudo("[preempted]", solve, 300);
    run.pseudo("[preempted]", run.add("MPI_Recv", main, 50, RowKind::Mpi), 450);
    const auto expect_interval = [&](double low, double high) {
        const Hotspots paths = by_call_path(run.profile());
        const Estimate share = paths.items[in_solve.value].share;
        EXPECT_NEAR(share.value, 0.3, 1e-12);
        EXPECT_NEAR(share.low, low, 1e-4);
        EXPECT_NEAR(share.high, high, 1e-4);
        EXPECT_FALSE(share.exact);
        EXPECT_LE(share.high, paths.items[solve.value].share.high);
    };
    // All of it, by 100 samples: at least 1 - 3.8415/103.8415.
    expect_interval(0.3 * (1 - 3.8415 / 103.8415), 0.3);
    // By 200, of which half are elsewhere, and a quarter of what is preempted: 0.75 has 0.6857 to 0.8049.
    run.profile().path[0].ns -= 100;
    const CallPathId read = run.add("read", main, 100);
    run.profile().path.back().ns = 0;
    run.pseudo("[preempted]", read, 100);
    const double whole = 1000;
    EXPECT_NEAR(by_call_path(run.profile()).items[in_solve.value].share.low * whole, 0.6857 * 400, 0.1);
    EXPECT_NEAR(by_call_path(run.profile()).items[in_solve.value].share.high * whole, 0.8049 * 400, 0.1);
}

// That it calls MPI is recorded; what it computes itself, 100 samples may have missed: up to 3.84/103.84 of 800 ns.
TEST(Inclusive, WhatOnlyCallsMpiMayHaveBeenMissedBySamples)
{
    OneRank run;
    const CallPathId main = run.add("main", uncalled, 800);
    run.add("MPI_Send", run.add("exchange", main, 0), 200, RowKind::Mpi);
    const auto expect_missed = [](const Hotspot& item) {
        EXPECT_EQ(item.name, "exchange");
        EXPECT_EQ(item.path_ns, 200);
        EXPECT_FALSE(item.share.exact);
        EXPECT_NEAR(item.share.low, 0.2, 1e-9);
        EXPECT_NEAR(item.share.high, 0.2 + 0.8 * 3.8415 / 103.8415, 1e-5);
        EXPECT_FALSE(item.is_below_error());
    };
    expect_missed(function(run, "exchange"));
    expect_missed(by_call_path(run.profile()).items[1]);
    EXPECT_TRUE(function(run, "MPI_Send").share.exact);

    // Where nothing is computed, or nothing was sampled, nothing is missed.
    std::erase_if(run.profile().path, [](const auto& time) { return time.samples > 0; });
    EXPECT_TRUE(function(run, "exchange").share.exact);
    OneRank traced;
    traced.profile().properties.clear();
    traced.add("MPI_Send", traced.add("exchange", traced.add("main", uncalled, 800), 0), 200, RowKind::Mpi);
    EXPECT_TRUE(function(traced, "exchange").share.exact);
}

// main > step* > smooth*, main > step > smooth*, main > kernel > step*: * is inlined.
TEST(Inclusive, AFunctionIsInlinedIfAllOfItOnThePathIs)
{
    OneRank run;
    const CallPathId main = run.add("main", uncalled, 100);
    const CallPathId inlined = run.add("step", main, 10);
    run.add("smooth", inlined, 20);
    const CallPathId called = run.add("step", main, 40);
    run.add("smooth", called, 80);
    const CallPathId kernel = run.add("kernel", main, 160);
    run.add("step", kernel, 320);
    const std::vector<bool> is_inlined = {false, true, true, false, true, false, true};
    const auto function = [&](const std::string& name) {
        const Hotspots all = by_function_inclusive(run.profile(), {}, is_inlined);
        return *std::ranges::find_if(all.items, [&](const Hotspot& item) { return item.name == name; });
    };
    EXPECT_EQ(function("main").inlined_ns, 0);
    EXPECT_FALSE(function("main").is_inlined);
    EXPECT_EQ(function("smooth").inlined_ns, 100);
    EXPECT_TRUE(function("smooth").is_inlined);
    EXPECT_EQ(function("step").path_ns, 470);
    EXPECT_EQ(function("step").inlined_ns, 350);
    EXPECT_FALSE(function("step").is_inlined);
    // What the path has nothing of does not count.
    std::erase_if(run.profile().path,
                  [&](const auto& time) { return time.call_path.value == 3 || time.call_path.value == 4; });
    EXPECT_TRUE(function("step").is_inlined);
    EXPECT_FALSE(function("kernel").is_inlined);
    EXPECT_FALSE(by_function_inclusive(run.profile()).items.back().is_inlined) << "it is not known of any";
}

TEST(Inclusive, WhatHasNoFunctionMayBelongToAny)
{
    OneRank run;
    const CallPathId main = run.add("main", uncalled, 600);
    run.add("MPI_Send", uncalled, 150, RowKind::Mpi);                 // its callers were not recorded
    run.add("leaf", run.add("[unknown callers]", uncalled, 0), 100);  // these were not found
    run.pseudo("[not sampled]", uncalled, 50);
    run.pseudo("[transfer]", uncalled, 100);  // in no function at all
    expect_parts(function(run, "main"), 600, 0, 300);
    expect_parts(function(run, "leaf"), 100, 0, 200);
    expect_parts(function(run, "MPI_Send"), 150, 0, 0);
    EXPECT_EQ(by_function_inclusive(run.profile()).unknown_callers_ns, 250);

    run.profile().properties["call_graph"] = "none";
    run.add("other", main, 0);
    expect_parts(function(run, "main"), 600, 0, 300);
    EXPECT_EQ(by_function_inclusive(run.profile()).unknown_callers_ns, 850);
}

// In a part of the run, nobody knows who else had something there at other times but from the call paths.
TEST(Inclusive, InAPartOfTheRunTheRestOfItCounts)
{
    OneRank run;
    const CallPathId main = run.add("main", uncalled, 0);
    const CallPathId solve = run.add("solve", main, 200);
    run.pseudo("[blocked]", solve, 800);
    run.add("read", main, 500);
    std::erase_if(run.profile().path, [](const auto& time) { return time.call_path.value == 3; });
    run.profile().totals.clear();
    expect_parts(function(run, "main"), 1000, 0, 0);
    expect_parts(function(run, "solve"), 1000, 800, 0);
}

// What begins with unknown callers may belong to any function, and is not to be counted a second time for its guesses.
TEST(Inclusive, GuessesBelowUnknownCallersAreUnknownOnce)
{
    OneRank run;
    const CallPathId unknown = run.add("[unknown callers]", uncalled, 0);
    run.pseudo("[blocked]", run.add("solve", unknown, 50), 40);
    run.add("leaf", unknown, 10);
    run.add("main", uncalled, 300);
    run.pseudo("[not sampled]", uncalled, 5);
    expect_parts(function(run, "leaf"), 10, 0, 95);
    expect_parts(function(run, "solve"), 90, 40, 15);
    expect_parts(function(run, "main"), 300, 0, 105);
    const Hotspots paths = by_call_path(run.profile());
    expect_parts(paths.items[1], 90, 40, 5);
    expect_parts(paths.items[3], 10, 0, 45);

    run.profile().properties["call_graph"] = "none";
    expect_parts(function(run, "main"), 300, 0, 105);
}

// Each function is a call path of its own, and may have called any of the others.
TEST(Inclusive, WithoutCallersCallPathsMayBeBelowEachOther)
{
    OneRank run;
    run.profile().properties["call_graph"] = "none";
    run.add("main", uncalled, 100);
    run.add("leaf", uncalled, 800);
    run.pseudo("[not sampled]", uncalled, 5);
    const Hotspots paths = by_call_path(run.profile());
    expect_parts(paths.items[0], 100, 0, 805);
    expect_parts(paths.items[1], 800, 0, 105);
}

// Rank 0 waits in "prepare", ranks 1 and 2 in "work", and nobody looked: who is never in a function was not there.
TEST(Inclusive, OfWhatOthersWereBlockedItMayHaveThatOfItsOwnRanks)
{
    OneRank run;
    const CallPathId main = run.add("main", uncalled, 30);
    const CallPathId prepare = run.add("prepare", main, 0), work = run.add("work", main, 0);
    run.pseudo("[blocked]", prepare, 600);
    run.pseudo("[blocked]", work, 80);
    model::Profile& p = run.profile();
    p.processes.resize(3, p.processes.front());
    p.path.back().process = {1};
    p.path.push_back({work, {2}, 10, 0});
    expect_parts(function(run, "prepare"), 600, 600, 0);
    expect_parts(function(run, "work"), 90, 80, 0);
    expect_parts(function(run, "main"), 720, 0, 0);
    const auto paths = [&] { return by_call_path(p).items; };
    expect_parts(paths()[1], 600, 600, 0);
    expect_parts(paths()[2], 90, 80, 0);
    expect_parts(paths()[4], 80, 80, 0);

    run.add("elsewhere", main, 0);
    expect_parts(function(run, "elsewhere"), 0, 0, 680);
    expect_parts(paths()[5], 0, 0, 680);

    p.path.push_back({{3}, {2}, 50, 0});  // rank 2 was in both
    expect_parts(function(run, "work"), 90, 80, 50);
    expect_parts(function(run, "prepare"), 650, 650, 0);
    expect_parts(paths()[4], 80, 80, 50);
    p.path.push_back({{4}, {0}, 7, 0});  // and rank 0
    expect_parts(function(run, "work"), 97, 87, 650);
}

// A function has what it calls, whatever module that is of.
TEST(Inclusive, OfAModuleAreTheFunctionsAndNotTheTime)
{
    OneRank run;
    run.add("read", run.add("main", uncalled, 100), 500);
    Selection selection;
    selection.module = "/app/main";
    EXPECT_EQ(function(run, "main", selection).path_ns, 600);
    EXPECT_EQ(function(run, "read", selection).path_ns, 0);
}

}  // namespace
}  // namespace critpath::report

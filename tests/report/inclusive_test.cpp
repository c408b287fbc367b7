// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What rows with the time of all that they call know, and what they do not, against what was put together by hand.
#include "analysis/report/inclusive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace critpath::report
{
namespace
{

using model::CallPathId;
using model::RowKind;

/// A run of one rank, path by path. Each has all of its time on the path.
class OneRank
{
public:
    OneRank()
    {
        profile_.processes.push_back({"rank 0", "node", 0, 0, 0, 0, 0, 0});
        profile_.properties["event"] = "cpu-clock";
    }

    CallPathId add(const std::string& name, CallPathId parent, std::int64_t ns, RowKind kind = RowKind::Sampled)
    {
        const auto known = std::ranges::find_if(profile_.rows, [&](const model::Row& row) { return row.name == name; });
        const auto row = static_cast<std::uint32_t>(known - profile_.rows.begin());
        if (known == profile_.rows.end())
            profile_.rows.push_back({kind, name, kind == RowKind::Sampled ? "/app/" + name : "", "", 0});
        const CallPathId path{static_cast<std::uint32_t>(profile_.call_paths.size())};
        profile_.call_paths.push_back({{row}, parent});
        if (ns > 0) {
            const std::uint64_t samples = kind == RowKind::Sampled ? 100 : 0;
            profile_.path.push_back({path, {0}, ns, samples});
            profile_.totals.push_back({path, model::ProcessId::none(), ns, samples});
        }
        return path;
    }
    CallPathId pseudo(const std::string& name, CallPathId parent, std::int64_t ns)
    {
        return add(name, parent, ns, RowKind::Pseudo);
    }

    model::Profile& profile() { return profile_; }
    Hotspot function(const std::string& name, const Selection& selection = {})
    {
        const Hotspots all = by_function_inclusive(profile_, selection);
        return *std::ranges::find_if(all.items, [&](const Hotspot& item) { return item.name == name; });
    }

private:
    model::Profile profile_;
};

constexpr CallPathId nobody = CallPathId::none();

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
    const CallPathId main = run.add("main", run.add("_start", nobody, 0), 0);
    const CallPathId solve = run.add("solve", main, 200);
    run.pseudo("[blocked]", solve, 300);
    run.add("read", main, 500);
    expect_parts(run.function("_start"), 1000, 0, 0);
    expect_parts(run.function("main"), 1000, 0, 0);
    expect_parts(run.function("solve"), 500, 300, 0);
    expect_parts(run.function("read"), 500, 0, 300);
    const Hotspot blocked = run.function("[blocked]");
    expect_parts(blocked, 300, 0, 0);
    EXPECT_TRUE(blocked.share.exact);
    const Hotspot solve_item = run.function("solve");
    EXPECT_FALSE(solve_item.share.exact);
    EXPECT_LE(solve_item.share.low, 0.2);
    EXPECT_GE(run.function("read").share.high, 0.8);

    const Hotspots paths = by_call_path(run.profile());
    expect_parts(paths.items[1], 1000, 0, 0);
    expect_parts(paths.items[2], 500, 300, 0);
    expect_parts(paths.items[3], 300, 300, 0);
    expect_parts(paths.items[4], 500, 0, 300);
    ASSERT_EQ(caller_notes(paths).size(), 1U);
    EXPECT_NE(caller_notes(paths)[0].find("of 30.0 % of the path it is a guess"), std::string::npos);
}

// In a call of MPI it is known where the thread was; and of a thread of its own, nothing can be in main.
TEST(Inclusive, WhatIsKnownIsExact)
{
    OneRank run;
    const CallPathId main = run.add("main", nobody, 100);
    run.pseudo("[blocked]", run.add("MPI_Recv", main, 100, RowKind::Mpi), 300);
    const CallPathId worker = run.add("worker", nobody, 300);
    run.pseudo("[blocked]", worker, 200);
    expect_parts(run.function("main"), 500, 0, 0);
    expect_parts(run.function("worker"), 500, 0, 0);
    EXPECT_TRUE(run.function("MPI_Recv").share.exact);
}

// It is preempted at any time, so that the samples around tell how much of it is whose, as they do of the work.
TEST(Inclusive, PreemptionIsAsSureAsSamples)
{
    OneRank run;
    const CallPathId main = run.add("main", nobody, 0);
    const CallPathId solve = run.add("solve", main, 200);
    run.pseudo("[preempted]", solve, 200);
    run.add("read", main, 600);
    const Hotspot solve_item = run.function("solve");
    expect_parts(solve_item, 400, 0, 0);
    EXPECT_EQ(solve_item.sampled_ns, 400);
    // 200 samples say so, where 400 of 1000 are not certain: Wilson's interval.
    EXPECT_NEAR(solve_item.share.low, 0.3346, 1e-4);
    EXPECT_NEAR(solve_item.share.high, 0.4692, 1e-4);
    EXPECT_TRUE(run.function("[preempted]").share.exact);
}

TEST(Inclusive, WhatHasNoFunctionMayBelongToAny)
{
    OneRank run;
    const CallPathId main = run.add("main", nobody, 600);
    run.add("MPI_Send", nobody, 150, RowKind::Mpi);                 // its callers were not recorded
    run.add("leaf", run.add("[unknown callers]", nobody, 0), 100);  // these were not found
    run.pseudo("[not sampled]", nobody, 50);
    run.pseudo("[transfer]", nobody, 100);  // in no function at all
    expect_parts(run.function("main"), 600, 0, 300);
    expect_parts(run.function("leaf"), 100, 0, 200);
    expect_parts(run.function("MPI_Send"), 150, 0, 0);
    EXPECT_EQ(by_function_inclusive(run.profile()).unknown_callers_ns, 250);

    run.profile().properties["call_graph"] = "none";
    run.add("other", main, 0);
    expect_parts(run.function("main"), 600, 0, 300);
    EXPECT_EQ(by_function_inclusive(run.profile()).unknown_callers_ns, 850);
}

// In a part of the run, nobody knows who else had something there at other times but from the call paths.
TEST(Inclusive, InAPartOfTheRunTheRestOfItCounts)
{
    OneRank run;
    const CallPathId main = run.add("main", nobody, 0);
    const CallPathId solve = run.add("solve", main, 200);
    run.pseudo("[blocked]", solve, 800);
    run.add("read", main, 500);
    std::erase_if(run.profile().path, [](const auto& time) { return time.call_path.value == 3; });
    run.profile().totals.clear();
    expect_parts(run.function("main"), 1000, 0, 0);
    expect_parts(run.function("solve"), 1000, 800, 0);
}

// What begins with unknown callers may belong to any function, and is not to be counted a second time for its guesses.
TEST(Inclusive, GuessesBelowUnknownCallersAreUnknownOnce)
{
    OneRank run;
    const CallPathId unknown = run.add("[unknown callers]", nobody, 0);
    run.pseudo("[blocked]", run.add("solve", unknown, 50), 40);
    run.add("leaf", unknown, 10);
    run.add("main", nobody, 300);
    run.pseudo("[not sampled]", nobody, 5);
    expect_parts(run.function("leaf"), 10, 0, 95);
    expect_parts(run.function("solve"), 90, 40, 15);
    expect_parts(run.function("main"), 300, 0, 105);
    const Hotspots paths = by_call_path(run.profile());
    expect_parts(paths.items[1], 90, 40, 5);
    expect_parts(paths.items[3], 10, 0, 45);

    run.profile().properties["call_graph"] = "none";
    expect_parts(run.function("main"), 300, 0, 105);
}

// A function has what it calls, whatever module that is of.
TEST(Inclusive, OfAModuleAreTheFunctionsAndNotTheTime)
{
    OneRank run;
    run.add("read", run.add("main", nobody, 100), 500);
    Selection selection;
    selection.module = "/app/main";
    EXPECT_EQ(run.function("main", selection).path_ns, 600);
    EXPECT_EQ(run.function("read", selection).path_ns, 0);
}

}  // namespace
}  // namespace critpath::report

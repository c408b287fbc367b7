// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/inclusive.hpp"
#include "analysis/report/recursion.hpp"
#include "tests/result/samples.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace critpath::report
{

namespace
{

using model::CallPathId;
using model::CallPathTime;
using model::ProcessId;
using model::RowId;
using model::RowKind;

/// Rows f, g and [app] of a sampled program, without call paths.
model::Profile program()
{
    model::Profile p;
    p.properties["event"] = "cycles";
    p.processes.resize(1);
    p.rows = {{RowKind::Sampled, "f", "app", "", 0},
              {RowKind::Sampled, "g", "app", "", 0},
              {RowKind::Sampled, "[app]", "app", "", 0}};
    return p;
}

std::uint32_t add(model::Profile& p, std::uint32_t row, std::uint32_t parent, std::int64_t ns)
{
    const auto path = static_cast<std::uint32_t>(p.call_paths.size());
    p.call_paths.push_back({RowId{row}, CallPathId{parent}});
    p.path.push_back({CallPathId{path}, ProcessId{0}, ns, 1});
    p.totals.push_back({CallPathId{path}, ProcessId::none(), 3 * ns, 3});
    return path;
}

std::map<RowId, std::int64_t> by_row(const model::Profile& p, const std::vector<CallPathTime>& times)
{
    std::map<RowId, std::int64_t> sums;
    for (const CallPathTime& time : times)
        sums[p.row_of(time.call_path)] += time.ns;
    return sums;
}

constexpr std::uint32_t f = 0, g = 1, some_of_app = 2, no_caller = CallPathId::none().value;

}  // namespace

TEST(Recursion, AChainOfAFunctionIsOneCallOfAllThatItCalls)
{
    model::Profile p = program();
    std::uint32_t caller = no_caller;
    for (std::int64_t level = 1; level <= 12; ++level) {
        caller = add(p, f, caller, level);
        add(p, g, caller, 100);
    }
    const auto folded = fold_recursion(p);
    ASSERT_TRUE(folded);
    EXPECT_EQ(folded->levels, (std::vector<std::size_t>{12, 1}));
    ASSERT_EQ(folded->profile.path.size(), 2U);
    EXPECT_EQ(folded->profile.path[0].ns, 12 * 13 / 2);  // 1 + 2 + ... + 12
    EXPECT_EQ(folded->profile.path[0].samples, 12U);
    EXPECT_EQ(folded->profile.path[1].ns, 12 * 100);
    EXPECT_EQ(folded->profile.totals[1].ns, 3 * 12 * 100);
    const Hotspots tree = by_call_path(folded->profile), original = by_call_path(p);
    EXPECT_EQ(tree.items[0].path_ns, original.items[0].path_ns);
    EXPECT_EQ(tree.items[0].share.low, original.items[0].share.low);
    EXPECT_EQ(tree.items[0].share.high, original.items[0].share.high);
}

TEST(Recursion, WhatIsNoFunctionThatCallsItselfStays)
{
    model::Profile p = program();
    const std::uint32_t outer = add(p, f, no_caller, 1);
    add(p, f, add(p, g, outer, 1), 1);                      // by way of another one
    add(p, some_of_app, add(p, some_of_app, outer, 1), 1);  // nobody knows which functions
    EXPECT_FALSE(fold_recursion(p));
    add(p, g, outer, 1);  // inlined
    add(p, g, add(p, g, no_caller, 1), 1);
    std::vector<bool> is_inlined(p.call_paths.size(), false);
    is_inlined[5] = true;
    ASSERT_TRUE(fold_recursion(p, is_inlined));
    EXPECT_EQ(fold_recursion(p, is_inlined)->profile.call_paths.size(), p.call_paths.size() - 1);
}

/// Whichever comes first, the function itself or what it calls: call paths are in the order of their functions.
TEST(Recursion, CalleesOfAllLevelsAreOne)
{
    for (const bool itself_first : {false, true}) {
        model::Profile p = program();
        const std::uint32_t outer = add(p, f, no_caller, 1);
        if (!itself_first)
            add(p, g, outer, 10);
        const std::uint32_t inner = add(p, f, outer, 1);
        add(p, g, inner, 20);
        if (itself_first)
            add(p, g, outer, 10);
        const auto folded = fold_recursion(p);
        ASSERT_TRUE(folded);
        ASSERT_EQ(folded->profile.path.size(), 2U);
        EXPECT_EQ(folded->profile.path[1].ns, 30);
    }
}

/// Of random trees: nothing gets lost, callers stay callers, and no function is left below itself.
TEST(Recursion, SumsAndCallersAreThoseOfTheOriginal)
{
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
        model::Profile p = program();
        for (std::uint32_t i = 0; i < 60; ++i) {
            const std::uint32_t parent = below(i + 1);
            add(p, below(2), parent == i ? no_caller : parent, below(1000));
        }
        const auto folded = fold_recursion(p);
        if (!folded)
            continue;
        EXPECT_EQ(by_row(folded->profile, folded->profile.path), by_row(p, p.path)) << seed;
        EXPECT_EQ(by_row(folded->profile, folded->profile.totals), by_row(p, p.totals)) << seed;
        EXPECT_EQ(folded->levels.size(), folded->profile.call_paths.size());
        for (std::uint32_t i = 0; i < p.call_paths.size(); ++i) {
            const CallPathId place = folded->places[i], parent = p.call_paths[i].parent;
            EXPECT_EQ(folded->profile.row_of(place), p.row_of({i})) << seed;
            const CallPathId caller = parent.valid() ? folded->places[parent.value] : parent;
            EXPECT_TRUE(place == caller || folded->profile.call_paths[place.value].parent == caller) << seed;
        }
        std::set<std::pair<CallPathId, RowId>> calls;
        for (std::uint32_t i = 0; i < folded->profile.call_paths.size(); ++i) {
            const model::CallPath& path = folded->profile.call_paths[i];
            EXPECT_TRUE(calls.emplace(path.parent, path.row).second) << seed << ": a call twice";
            if (!path.parent.valid())
                continue;
            EXPECT_LT(path.parent.value, i) << seed;
            EXPECT_NE(folded->profile.row_of(path.parent), path.row) << seed;
        }
    }
}

}  // namespace critpath::report

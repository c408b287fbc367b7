// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How stretches are told apart between calls that a wrapper makes, which is called at several sites.
#include "analysis/report/explain/explain.hpp"
#include "analysis/report/lines.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace critpath::report
{
namespace
{

using testing::HasSubstr;
using testing::StartsWith;
using namespace tests;

/// main > solve, at one site each, calls dot, which calls MPI_Allreduce.
class ExplainWrappers : public testing::Test
{
protected:
    ExplainWrappers()
    {
        for (model::Row& row : profile_.rows)
            row.module = "/bin/app";
        profile_.rows[1].name = "solve";
        profile_.rows[2].name = "dot";
        profile_.modules = {{"/bin/app", "", true}};
        profile_.source_files = {"/src/cg.c"};
        profile_.source_functions = {{"solve", 0, 1}};
        profile_.stretches.clear();
    }

    /// Of dot() that solve calls at `site`, in a line.
    model::CallPathId call(std::uint64_t site, std::uint32_t line, model::CallPathId solve = {1})
    {
        if (site != 0)
            profile_.source_frames.push_back({0, site, 0, 0, line});
        profile_.call_paths.push_back({{2}, solve, site});
        profile_.call_paths.push_back({{4}, {static_cast<std::uint32_t>(profile_.call_paths.size() - 1)}, 0x500});
        return {static_cast<std::uint32_t>(profile_.call_paths.size() - 1)};
    }
    void add(model::CallPathId before, model::CallPathId after)
    {
        profile_.stretches.push_back(one_stretch().stretches[0]);
        profile_.stretches.back().before = before;
        profile_.stretches.back().after = after;
        profile_.stretches.back().before_site = profile_.stretches.back().after_site = 0x500;
        const auto stretch = static_cast<std::uint32_t>(profile_.stretches.size() - 1);
        if (stretch > 0)
            profile_.stretch_shares.push_back({stretch, {3}, 920 * ms, 9, 460 * ms});
    }
    Explanation explained(std::size_t stretch)
    {
        binary::SourceLines lines = source_lines(profile_);
        return explain(profile_, stretch, &lines);
    }

    model::Profile profile_ = one_stretch();
};

TEST_F(ExplainWrappers, BothEndsAreNamed)
{
    const model::CallPathId first = call(0x10, 10), second = call(0x20, 20), third = call(0x30, 30);
    add(first, second);
    add(second, third);
    add(third, first);
    EXPECT_THAT(
        explained(0).headline(),
        StartsWith("mostly rank 3, MPI_Allreduce to MPI_Allreduce in solve (from dot (cg.c:10) to dot (cg.c:20)): "));
    EXPECT_THAT(
        explained(1).sentence(profile_, "the trace"),
        HasSubstr("computation from dot (cg.c:20) > MPI_Allreduce to dot (cg.c:30) > MPI_Allreduce in main > solve,"));
    EXPECT_EQ(explained(2).calls_apart, "from dot (cg.c:30) to dot (cg.c:10)");
}

TEST_F(ExplainWrappers, CallsInOneLineHaveAddresses)
{
    const model::CallPathId first = call(0x10, 10), second = call(0x20, 10);
    add(first, second);
    add(second, first);
    add(first, first);
    EXPECT_EQ(explained(0).apart, "from dot (cg.c:10, app+0x10) to dot (cg.c:10, app+0x20)");
    EXPECT_EQ(explained(1).apart, "from dot (cg.c:10, app+0x20) to dot (cg.c:10, app+0x10)");
    EXPECT_EQ(explained(2).apart, "by dot (cg.c:10, app+0x10)");
}

/// Of several sites, none is named, but the line if they have one.
TEST_F(ExplainWrappers, CallsOfSeveralSitesHaveALineIfAllHaveIt)
{
    const model::CallPathId first = call(0x10, 10), second = call(0, 0);
    add(first, second);
    add(second, first);
    EXPECT_EQ(explained(0).apart, "from dot (cg.c:10) to dot") << "nothing is known of the others";
    call(0x20, 20);
    call(0x28, 20);
    EXPECT_EQ(explained(0).apart, "from dot (cg.c:10) to dot (cg.c:20)");
    EXPECT_EQ(explained(1).apart, "from dot (cg.c:20) to dot (cg.c:10)");
    call(0x30, 30);
    EXPECT_EQ(explained(1).apart, "from dot to dot (cg.c:10)");
}

/// solve() is called at two sites, too.
TEST_F(ExplainWrappers, WhatCallsTheirCallerIsNamedBesides)
{
    std::vector<model::CallPathId> calls;
    for (const std::uint64_t site : {0x100U, 0x200U}) {
        profile_.source_frames.push_back({0, site, 0, 0, static_cast<std::uint32_t>(site)});
        profile_.call_paths.push_back({{1}, {0}, site});
        const model::CallPathId solve{static_cast<std::uint32_t>(profile_.call_paths.size() - 1)};
        calls.push_back(call(0x10, 10, solve));
        calls.push_back(call(0x20, 20, solve));
    }
    add(calls[0], calls[1]);
    add(calls[1], calls[0]);
    add(calls[2], calls[3]);
    EXPECT_EQ(explained(0).apart, "from dot (cg.c:10) to dot (cg.c:20), by solve (cg.c:256)");
    EXPECT_EQ(explained(2).apart, "by solve (cg.c:512)");
    EXPECT_THAT(explained(0).sentence(profile_, "the trace"), HasSubstr(" in main > solve (cg.c:256),"));
}

/// Where some ranks come from one site of solve(), and others from another one, one end may be known of some only.
TEST_F(ExplainWrappers, ACallerAtSeveralSitesIsTheSameAsAtOne)
{
    profile_.call_paths.push_back({{1}, {0}, 0x100});
    const model::CallPathId at_one{static_cast<std::uint32_t>(profile_.call_paths.size() - 1)};
    add(call(0x10, 10), call(0x20, 20, at_one));
    EXPECT_EQ(explained(0).caller, "main > solve");
}

}  // namespace
}  // namespace critpath::report

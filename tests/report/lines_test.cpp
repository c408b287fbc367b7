// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is known by address, by source line: all of it, or as far as rows with path time need it.
#include "analysis/report/annotation.hpp"
#include "analysis/report/lines.hpp"
#include "analysis/report/unnamed_note.hpp"
#include "tests/report/one_rank.hpp"
#include "tests/scratch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <tuple>

namespace critpath::report
{
namespace
{

/// `solve` is on the path; a copy of it, with its source lines, and `poll` in another binary are not.
class Lines : public testing::Test
{
protected:
    Lines()
    {
        const model::CallPathId solve = run.add("solve", model::CallPathId::none(), 100);
        const model::CallPathId copy = run.add("solve [clone .part.0]", model::CallPathId::none(), 0);
        const model::CallPathId poll = run.add("poll", model::CallPathId::none(), 0);
        model::Profile& p = run.profile();
        p.rows[0].module = p.rows[1].module = "/app/solver";
        p.rows[2].module = "/lib/libpoll.so";
        p.modules = {{"/app/solver", "a1", true}, {"/lib/libpoll.so", "b2", true}};
        p.source_files = {"solve.c", "poll.c"};
        p.source_functions = {{"solve", 0, 1}, {"poll", 1, 1}};
        p.source_frames = {{0, 0x10, 0, 0, 5}, {0, 0x20, 0, 0, 6}, {0, 0x30, 0, 0, 5}, {1, 0x10, 1, 1, 7}};
        p.addresses = {{solve, 0x10, 70, 70}, {solve, 0x20, 30, 30}};
        p.total_addresses = {
            {solve, 0x10, 70, 70}, {solve, 0x20, 30, 30}, {copy, 0x30, 40, 40}, {poll, 0x10, 500, 500}};
        p.totals.push_back({copy, model::ProcessId::none(), 40, 40});
        p.totals.push_back({poll, model::ProcessId::none(), 500, 500});
    }

    /// "file:line" or the function: time on the path and on all ranks.
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> times(Items wanted, const std::string& module = "")
    {
        binary::SourceLines lines = source_lines(run.profile());
        std::map<std::string, std::pair<std::int64_t, std::int64_t>> result;
        for (const Hotspot& item : by_line(run.profile(), {{}, module}, wanted, lines).items)
            if (item.path_ns != 0 || item.total_ns.value_or(0) != 0)
                result[item.kind == "line" ? item.file + ":" + std::to_string(item.line) : item.name] = {
                    item.path_ns, item.total_ns.value_or(0)};
        return result;
    }

    OneRank run;
};

using PathAndAll = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;

TEST_F(Lines, HaveTheTimeOfTheirAddresses)
{
    EXPECT_EQ(times(Items::All),
              (PathAndAll{{"solve.c:5", {70, 110}}, {"solve.c:6", {30, 30}}, {"poll.c:7", {0, 500}}}));
}

/// Times of several processes that were scaled may be a ns less, together, than those of the addresses.
TEST_F(Lines, HaveNoMoreThanTheirFunction)
{
    run.profile().addresses[1].ns = 31;
    EXPECT_EQ(times(Items::All),
              (PathAndAll{{"solve.c:5", {70, 110}}, {"solve.c:6", {30, 30}}, {"poll.c:7", {0, 500}}}));
}

/// Of transfers that are not on the path nothing is known, in calls whose lines are known neither.
TEST_F(Lines, OfTransfersHaveNoTimeOnAllRanks)
{
    const model::CallPathId solve = run.add("solve", model::CallPathId::none(), 0);
    const model::CallPathId wait = run.add("MPI_Wait", solve, 0, model::RowKind::Mpi);
    run.profile().call_paths[wait.value].site = 0x20;
    run.pseudo("[transfer]", wait, 50);
    run.profile().totals.back().ns = 2;
    run.pseudo("[preempted]", wait, 40);
    binary::SourceLines lines = source_lines(run.profile());
    std::map<std::string, std::optional<std::int64_t>> all;
    for (const Hotspot& item : by_line(run.profile(), {}, Items::All, lines).items)
        if (item.line == 6)
            all[item.name] = item.total_ns;
    EXPECT_EQ(all.at("[transfer]"), std::nullopt);
    EXPECT_EQ(all.at("[preempted]"), 40);
}

TEST_F(Lines, OnThePathHaveAllTheirTime)
{
    // The copy's, too, which is in no row with path time.
    EXPECT_EQ(times(Items::OnPath),
              (PathAndAll{{"solve.c:5", {70, 110}}, {"solve.c:6", {30, 30}}, {"poll", {0, 500}}}));
}

TEST_F(Lines, OfOneModuleAreThoseOfAll)
{
    for (const Items wanted : {Items::OnPath, Items::All})
        EXPECT_EQ(times(wanted, "solver"), (PathAndAll{{"solve.c:5", {70, 110}}, {"solve.c:6", {30, 30}}}));
    EXPECT_EQ(times(Items::All, "poll"), (PathAndAll{{"poll.c:7", {0, 500}}}));
}

TEST(MissingLines, AreSaidOfBinariesThatHaveANotablePart)
{
    OneRank run;
    run.add("solve", model::CallPathId::none(), 96);
    run.add("poll", model::CallPathId::none(), 4);
    model::Profile& p = run.profile();
    p.rows[0].module = "/app/solver";
    p.rows[1].module = "/lib/libpoll.so";
    p.modules = {{"/app/solver", "a1", false}, {"/lib/libpoll.so", "b2", false}};
    binary::SourceLines lines = source_lines(p);
    const std::vector<std::string> notes = missing_lines_notes(p, {}, lines);
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_EQ(notes.front().find("No lines of solver (96.0 % of the path): "), 0U) << notes.front();
    EXPECT_EQ(missing_lines_notes(p, {{}, "/lib/libpoll.so"}, lines).size(), 1U) << "it is all that is looked at";
}

TEST(MissingLines, DebugFilesThatDoNotFitAreNamed)
{
    const test::Scratch scratch;
    std::ofstream(scratch / "solver.debug") << "nothing of the kind";
    ::setenv("CRITPATH_DEBUG_PATH", scratch.path().c_str(), 1);
    OneRank run;
    run.add("solver+0x10", model::CallPathId::none(), 96);
    model::Profile& p = run.profile();
    p.rows[0].module = "/app/solver";
    p.modules = {{"/app/solver", "a1", false}};
    binary::SourceLines lines = source_lines(p);
    for (const std::vector<std::string>& notes : {missing_lines_notes(p, {}, lines), unnamed_notes(p)}) {
        ASSERT_EQ(notes.size(), 1U);
        EXPECT_THAT(notes.front(), testing::EndsWith(". " + (scratch / "solver.debug") +
                                                     " was not taken: it is no file of code that can be read."));
    }
    ::unsetenv("CRITPATH_DEBUG_PATH");
}

// Debug information has another name for it, and parts of it are inlined into itself.
TEST_F(Lines, AnAliasIsNotInlined)
{
    model::Profile& p = run.profile();
    p.source_functions.push_back({"__libc_poll", 1, 1});
    p.source_functions.push_back({"wait", 1, 40});
    p.source_frames.insert(p.source_frames.end(),
                           {{1, 0x20, 2, 1, 26}, {1, 0x20, 2, 1, 24}, {1, 0x30, 3, 1, 41}, {1, 0x30, 2, 1, 25}});
    binary::SourceLines lines = source_lines(p);
    const auto at = [&](std::uint64_t address) {
        const std::optional<SourceLine> line = source_line_of(p, p.rows[2], address, lines);
        return line ? std::tuple(line->line, line->function, line->inlined_into)
                    : std::tuple(0, std::string(), std::string());
    };
    using Line = std::tuple<int, std::string, std::string>;
    EXPECT_EQ(at(0x10), Line(7, "poll", ""));
    EXPECT_EQ(at(0x20), Line(26, "poll", ""));
    EXPECT_EQ(at(0x30), Line(41, "wait", "poll"));
    p.rows[2].name = "poll(int) [clone .part.0]";
    EXPECT_EQ(at(0x10), Line(7, "poll", "")) << "without what only symbols have";
    p.rows[2].name = "poll";
    p.addresses = {{model::CallPathId{2}, 0x20, 100, 100}};
    const Annotation annotation = annotate(p, {}, "poll", "a run", lines);
    EXPECT_TRUE(annotation.inlined.empty()) << annotation.inlined.begin()->first;
    EXPECT_EQ(std::get<2>(annotation.lines.begin()->first), 26);
}

// By line, and not by the binary that calls it.
TEST_F(Lines, OfTheModuleMpiAreTheCallsOfItsFunctions)
{
    const model::CallPathId solve{0};
    const model::CallPathId send = run.add("MPI_Send", solve, 60);
    model::Profile& p = run.profile();
    p.rows.back().kind = model::RowKind::Mpi;
    p.rows.back().module = "MPI";
    p.call_paths[send.value].site = 0x20;
    EXPECT_EQ(times(Items::OnPath, "MPI"), (PathAndAll{{"MPI_Send", {60, 60}}}));
    binary::SourceLines lines = source_lines(p);
    const Hotspots found = by_line(p, {{}, "MPI"}, Items::OnPath, lines);
    const auto call = std::ranges::find(found.items, 60, &Hotspot::path_ns);
    ASSERT_NE(call, found.items.end());
    EXPECT_EQ(std::tuple(call->file, call->line, call->module), std::tuple("solve.c", 6, "/app/solver"));
    EXPECT_TRUE(times(Items::OnPath, "libmpi").empty());
}

// Lambdas are numbered, and what they call has no other lines.
TEST_F(Lines, OfWhatIsInlinedIntoNumberedFunctionsAreApartByWhereTheyCallIt)
{
    model::Profile& p = run.profile();
    p.rows[0].name = "each<step::{lambda(int)#1}>";
    p.source_functions = {
        {"each<step::{lambda(int)#1}>", 0, 1}, {"burn", 1, 1}, {"step::{lambda(int)#1}::operator()", 0, 9}};
    p.source_frames = {{0, 0x10, 1, 1, 5}, {0, 0x10, 2, 0, 9},  {0, 0x10, 0, 0, 2},
                       {0, 0x20, 1, 1, 5}, {0, 0x20, 2, 0, 11}, {0, 0x20, 0, 0, 2}};
    binary::SourceLines lines = source_lines(p);
    using Sums = std::map<std::string, std::int64_t>;
    const auto sites = [](const Hotspots& hotspots) {
        Sums sums;
        for (const Hotspot& item : hotspots.items)
            if (item.path_ns > 0)
                sums[item.name + " " + item.called_at] += item.path_ns;
        return sums;
    };
    EXPECT_EQ(sites(by_line(p, {}, Items::OnPath, lines, CallSites::Apart)),
              (Sums{{"burn solve.c:9", 70}, {"burn solve.c:11", 30}}));
    EXPECT_EQ(sites(by_inlined_function(p, {}, Items::OnPath, lines, CallSites::Apart)),
              (Sums{{"burn solve.c:9", 70}, {"burn solve.c:11", 30}}));
    EXPECT_EQ(sites(by_line(p, {}, Items::OnPath, lines)), (Sums{{"burn ", 100}}));
    p.rows[0].name = "each";
    EXPECT_EQ(sites(by_line(p, {}, Items::OnPath, lines, CallSites::Apart)), (Sums{{"burn ", 100}}));
}

// Two plugins have a function of this name each.
TEST_F(Lines, OfFunctionsOfOneNameAreThoseOfTheirBinaries)
{
    model::Profile& p = run.profile();
    p.source_frames.back() = {1, 0x10, 0, 0, 5};
    p.rows[2].name = "solve";
    p.addresses.push_back({model::CallPathId{2}, 0x10, 500, 500});
    binary::SourceLines lines = source_lines(p);
    const Annotation annotation = annotate(p, {}, "solve", "a run", lines);
    std::vector<std::tuple<std::string, int, std::int64_t>> found;
    for (const auto& [place, time] : annotation.lines)
        found.emplace_back(std::get<0>(place), std::get<2>(place), time.own.ns);
    EXPECT_EQ(found, (std::vector<std::tuple<std::string, int, std::int64_t>>{
                         {"/app/solver", 5, 70}, {"/app/solver", 6, 30}, {"/lib/libpoll.so", 5, 500}}));
    ASSERT_EQ(annotation.modules.size(), 2U);
    EXPECT_EQ(annotation.modules.at("/app/solver").ns, 100);
    EXPECT_EQ(annotation.modules.at("/lib/libpoll.so").ns, 500);
    EXPECT_EQ(annotation.time.ns, 600);
}

}  // namespace
}  // namespace critpath::report

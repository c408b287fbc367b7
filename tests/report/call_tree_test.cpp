// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What becomes of call paths whose instructions lie in inlined functions: no time is lost, and each is where the source
// has it.
#include "analysis/report/call_tree.hpp"
#include "analysis/report/lines.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace critpath::report
{

namespace
{

using model::CallPathId;
using model::ProcessId;
using model::RowId;
using model::RowKind;

constexpr auto no_callers_path = CallPathId::none();
constexpr std::uint32_t app_module = 0;
enum : std::uint32_t { main_row, kernel_row, send_row };
enum : std::uint32_t { main_function, kernel_function, step_function, smooth_function };

/// `main`, into which `step` is inlined, and `smooth` into that; it calls `kernel` and MPI_Send, two of them at one
/// line.
///
///     0x10  main        0x20, 0x30  step, smooth: in main        0x40  step: in main       0x50  main
///     0x80  kernel      0x90        smooth: in kernel
class Program
{
public:
    Program()
    {
        p.rows = {{RowKind::Sampled, "main", "/home/app", "", 0},
                  {RowKind::Sampled, "kernel", "/home/app", "", 0},
                  {RowKind::Mpi, "MPI_Send", "MPI", "", 0}};
        p.modules = {{"/home/app", "ab12", true, false}};
        p.source_files = {"/src/a.c"};
        p.source_functions = {{"main", 0, 1}, {"kernel", 0, 2}, {"step", 0, 3}, {"smooth", 0, 4}};
        frames(0x10, {{main_function, 10}});
        for (const std::uint64_t address : {0x20, 0x30})
            frames(address, {{smooth_function, 40}, {step_function, 30}, {main_function, 11}});
        frames(0x40, {{step_function, 31}, {main_function, 11}});
        frames(0x42, {{step_function, 31}, {main_function, 15}});
        frames(0x50, {{main_function, 12}});
        frames(0x80, {{kernel_function, 20}});
        frames(0x90, {{smooth_function, 40}, {kernel_function, 21}});
        p.processes.resize(2);
    }

    CallPathId path(std::uint32_t row, CallPathId parent, std::uint64_t site = 0)
    {
        p.call_paths.push_back({RowId{row}, parent, site});
        return {static_cast<std::uint32_t>(p.call_paths.size() - 1)};
    }
    void time(CallPathId path, std::uint32_t process, std::int64_t ns, std::uint64_t samples)
    {
        p.path.push_back({path, ProcessId{process}, ns, samples});
    }
    void total(CallPathId path, std::int64_t ns, std::uint64_t samples, std::int64_t other_threads_ns = 0)
    {
        p.totals.push_back({path, ProcessId::none(), ns, samples, other_threads_ns});
    }
    void at(CallPathId path, std::uint64_t address, std::int64_t ns, std::uint64_t samples)
    {
        p.addresses.push_back({path, address, ns, samples});
        p.total_addresses.push_back({path, address, 2 * ns, 2 * samples});
    }

    [[nodiscard]] CallTree tree(const Selection& selection = {}) const
    {
        binary::SourceLines lines = source_lines(p);
        return call_tree(p, selection, &lines);
    }

    model::Profile p;

private:
    void frames(std::uint64_t address, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& functions)
    {
        for (const auto& [function, line] : functions)
            p.source_frames.push_back({app_module, address, function, 0, line});
    }
};

/// "main/step*/kernel": 7 s, of path or totals; * is inlined.
std::map<std::string, std::int64_t> by_name(const CallTree& tree, const std::vector<model::CallPathTime>& times)
{
    std::map<std::string, std::int64_t> sums;
    for (const model::CallPathTime& time : times) {
        std::string name;
        for (CallPathId c = time.call_path; c.valid(); c = tree.profile.call_paths[c.value].parent)
            name = tree.profile.row(c).name + (tree.is_inlined[c.value] ? "*" : "") + (name.empty() ? "" : "/") + name;
        EXPECT_EQ(sums.count(name), 0U) << name << " twice";
        sums[name] += time.ns;
    }
    return sums;
}

using TimesByName = std::map<std::string, std::int64_t>;

TEST(CallTree, WhatIsInlinedIsBetweenWhoHasItAndWhomItCalls)
{
    Program p;
    const CallPathId main = p.path(main_row, no_callers_path);
    const CallPathId by_step = p.path(kernel_row, main, 0x40);
    const CallPathId by_main = p.path(kernel_row, main, 0x50);
    const CallPathId unknown = p.path(kernel_row, main);
    p.time(main, 0, 100, 10);
    p.time(by_step, 0, 40, 4);
    p.time(by_main, 0, 30, 3);
    p.time(unknown, 0, 5, 1);
    p.total(main, 200, 20);
    p.total(by_step, 80, 8);
    p.at(main, 0x10, 20, 2);
    p.at(main, 0x20, 30, 3);
    p.at(main, 0x30, 10, 1);
    p.at(main, 0x40, 7, 1);
    p.at(by_step, 0x80, 15, 1);
    p.at(by_step, 0x90, 25, 3);
    const CallTree tree = p.tree();
    EXPECT_EQ(by_name(tree, tree.profile.path), (TimesByName{{"main", 53},
                                                             {"main/step*", 7},
                                                             {"main/step*/smooth*", 40},
                                                             {"main/step*/kernel", 15},
                                                             {"main/step*/kernel/smooth*", 25},
                                                             {"main/kernel", 35}}));
    EXPECT_EQ(by_name(tree, tree.profile.totals), (TimesByName{{"main", 106},
                                                               {"main/step*", 14},
                                                               {"main/step*/smooth*", 80},
                                                               {"main/step*/kernel", 30},
                                                               {"main/step*/kernel/smooth*", 50}}));
    EXPECT_EQ(tree.places[by_main.value], tree.places[unknown.value]);
    for (std::uint32_t i = 0; i < tree.profile.call_paths.size(); ++i)
        if (const CallPathId parent = tree.profile.call_paths[i].parent; parent.valid()) {
            EXPECT_LT(parent.value, i) << "callers come first";
        }
}

TEST(CallTree, CallsOfMpiAreToldApartByTheirLines)
{
    Program p;
    const CallPathId main = p.path(main_row, no_callers_path);
    const CallPathId first = p.path(send_row, main, 0x40);
    const CallPathId copy = p.path(send_row, main, 0x42);
    const CallPathId other = p.path(send_row, main, 0x50);
    p.time(first, 0, 1, 0);
    p.time(copy, 0, 2, 0);
    p.time(other, 0, 4, 0);
    const CallTree tree = p.tree();
    EXPECT_EQ(by_name(tree, tree.profile.path), (TimesByName{{"main/step*/MPI_Send", 3}, {"main/MPI_Send", 4}}));
    EXPECT_EQ(tree.profile.call_paths[tree.places[copy.value].value].site, 0x40U);
    EXPECT_EQ(tree.profile.call_paths[tree.places[other.value].value].site, 0x50U);
}

/// Debug information calls file-local functions of C++ by their names alone, their symbols have parameters.
TEST(CallTree, AFunctionIsOneWhetherItIsInlinedOrNot)
{
    for (const bool is_overloaded : {false, true}) {
        Program p;
        p.p.rows[kernel_row].name = "smooth(int)";
        p.p.source_functions[kernel_function].name = "smooth";
        p.p.rows.push_back({RowKind::Sampled, "smooth(double)", "/home/app", "", 0});
        const CallPathId main = p.path(main_row, no_callers_path);
        const CallPathId kernel = p.path(kernel_row, main, 0x50);
        p.time(main, 0, 100, 10);
        p.time(kernel, 0, 30, 3);
        p.at(main, 0x20, 40, 4);
        p.at(kernel, 0x80, 30, 3);
        if (is_overloaded) {
            const CallPathId other = p.path(3, main, 0x50);
            p.time(other, 0, 1, 1);
            p.at(other, 0x88, 1, 1);
            p.p.source_frames.insert(p.p.source_frames.begin() + 11, {app_module, 0x88, kernel_function, 0, 20});
        }
        const CallTree tree = p.tree();
        const TimesByName times = by_name(tree, tree.profile.path);
        EXPECT_EQ(times.count("main/step*/smooth(int)*"), is_overloaded ? 0U : 1U);
        EXPECT_EQ(times.count("main/step*/smooth*"), is_overloaded ? 1U : 0U);
        EXPECT_EQ(times.at("main/smooth(int)"), 30);
    }
}

TEST(CallTree, WithoutSourceLinesNothingIsInlined)
{
    Program p;
    const CallPathId main = p.path(main_row, no_callers_path);
    p.time(main, 0, 100, 10);
    p.at(main, 0x20, 40, 4);
    const CallTree tree = call_tree(p.p, {}, nullptr);
    EXPECT_EQ(by_name(tree, tree.profile.path), (TimesByName{{"main", 100}}));
}

TEST(CallTree, IsOfTheSelectedRanks)
{
    Program p;
    const CallPathId main = p.path(main_row, no_callers_path);
    p.time(main, 0, 100, 10);
    p.time(main, 1, 50, 5);
    p.at(main, 0x40, 20, 2);  // those of the selection
    const CallTree tree = p.tree({{1}, ""});
    TimesByName of_selected, of_other;
    for (const model::CallPathTime& time : tree.profile.path)
        (time.process == ProcessId{1} ? of_selected : of_other)[tree.profile.row(time.call_path).name] += time.ns;
    EXPECT_EQ(of_selected, (TimesByName{{"main", 30}, {"step", 20}}));
    EXPECT_EQ(of_other, (TimesByName{{"main", 100}})) << "shares are of the whole path";
    // Of both: what the first one does not have, the other one has.
    p.p.addresses.front().ns = 120;
    const CallTree both = p.tree();
    std::int64_t inlined = 0, all = 0;
    for (const model::CallPathTime& time : both.profile.path) {
        EXPECT_GE(time.ns, 0);
        all += time.ns;
        inlined += both.is_inlined[time.call_path.value] ? time.ns : 0;
    }
    EXPECT_EQ(all, 150);
    EXPECT_EQ(inlined, 120);
}

TEST(CallTree, WithoutLinesIsTheOneOfTheResult)
{
    Program p;
    p.p.modules.front().has_lines = false;
    const CallPathId main = p.path(main_row, no_callers_path);
    const CallPathId kernel = p.path(kernel_row, main, 0x40);
    p.time(main, 0, 100, 10);
    p.time(kernel, 0, 30, 3);
    p.at(main, 0x20, 30, 3);
    const CallTree tree = p.tree();
    EXPECT_EQ(by_name(tree, tree.profile.path), (TimesByName{{"main", 100}, {"main/kernel", 30}}));
    // Nor of binaries of the system, whose places of calls nobody knows.
    for (std::string* module : {&p.p.rows[0].module, &p.p.rows[1].module, &p.p.modules.front().path})
        *module = "/usr/bin/app";
    p.p.modules.front().has_lines = true;
    EXPECT_EQ(by_name(p.tree(), p.tree().profile.path), (TimesByName{{"main", 100}, {"main/kernel", 30}}));
}

}  // namespace

}  // namespace critpath::report

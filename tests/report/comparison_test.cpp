// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What two runs have in common, and what has changed.
#include "analysis/report/comparison.hpp"
#include "analysis/report/comparison_builds.hpp"
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "analysis/report/hotspots.hpp"
#include "analysis/report/numbered_names.hpp"
#include "tests/report/one_rank.hpp"
#include "tests/report/wilson.hpp"
#include "tests/result/samples.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::report
{
namespace
{

TEST(Comparison, OnlyWhatSamplesCannotExplainHasChanged)
{
    // 400 and 400 samples of 1 ms, of a function that has 100 of the first and 100 + k of the second. Newcombe's rule:
    // what the ends of the two intervals are off adds up by its squares.
    const auto run = [](std::int64_t hits) {
        Hotspots hotspots;
        hotspots.path_ns = hotspots.domain_ns = 400'000'000;
        hotspots.path_samples = hotspots.independent_samples = 400;
        Hotspot& item = hotspots.items.emplace_back();
        item.name.push_back('f');
        item.path_ns = item.sampled_ns = hits * 1'000'000;
        hotspots.add_share(item);
        return hotspots;
    };
    for (std::int64_t k = 1; k < 40; ++k) {
        const double p = 0.25 + static_cast<double>(k) / 400;
        const Interval first = expected(0.25, 400, 1), second = expected(p, 400, 1);
        const double down = std::sqrt(std::pow(p - second.low, 2) + std::pow(first.high - 0.25, 2)) * 400;
        const double up = std::sqrt(std::pow(second.high - p, 2) + std::pow(0.25 - first.low, 2)) * 400;
        const std::vector<Difference> found = compare(run(100), run(100 + k));
        ASSERT_EQ(found.size(), 1U);
        EXPECT_NEAR(found[0].change.low, (static_cast<double>(k) - down) * 1e6, 1) << k;
        EXPECT_NEAR(found[0].change.high, (static_cast<double>(k) + up) * 1e6, 1) << k;
        EXPECT_EQ(found[0].is_below_error(), static_cast<double>(k) <= down) << k;
    }
}

TEST(Comparison, WhatARunHasNoSamplesOfMayHaveBeenMissed)
{
    // 40 samples of 1 ms in each run; k of the second are of a function that the first one has none of.
    const auto run = [](std::int64_t hits) {
        Hotspots hotspots;
        hotspots.path_ns = hotspots.domain_ns = 40'000'000;
        hotspots.path_samples = hotspots.independent_samples = 40;
        Hotspot& item = hotspots.items.emplace_back();
        item.name.push_back('f');
        item.path_ns = item.sampled_ns = hits * 1'000'000;
        hotspots.add_share(item);
        return hotspots;
    };
    const double unseen = expected(0, 40, 1).high;
    EXPECT_NEAR(run(0).most_unseen(), unseen, 1e-9);
    for (const std::int64_t k : {1, 2, 5, 10, 20}) {
        const Interval second = expected(static_cast<double>(k) / 40, 40, 1);
        const double p = static_cast<double>(k) / 40;
        const std::vector<Difference> found = compare(run(0), run(k)), back = compare(run(k), run(0));
        ASSERT_EQ(found.size(), 1U);
        EXPECT_NEAR(found[0].change.low, (p - std::hypot(p - second.low, unseen)) * 40e6, 1);
        EXPECT_NEAR(found[0].change.high, second.high * 40e6, 1);
        EXPECT_NEAR(back[0].change.low, -found[0].change.high, 1);
        EXPECT_NEAR(back[0].change.high, -found[0].change.low, 1);
    }
}

// With other options, the compiler makes other copies of it, or none.
TEST(Comparison, CopiesOfAFunctionAreIt)
{
    const auto run = [](const std::vector<std::string>& names) {
        Hotspots hotspots;
        hotspots.path_ns = hotspots.domain_ns = 40'000'000;
        hotspots.path_samples = hotspots.independent_samples = 40;
        for (const std::string& name : names) {
            Hotspot& item = hotspots.items.emplace_back();
            item.name = name;
            item.kind = name.starts_with("region") ? "region" : "sampled";
            item.path_ns = item.sampled_ns = 10'000'000;
            hotspots.add_share(item);
        }
        return hotspots;
    };
    const std::vector<Difference> found =
        compare(run({"sort(int)", "sort(int) [clone .isra.0]", "step", "region.part.1"}),
                run({"sort(int)", "step.constprop.0", "region.part.1"}));
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].name, "sort(int)");
    EXPECT_EQ(found[0].change_ns(), -10'000'000);
    EXPECT_EQ(found[1].name, "region.part.1");
    EXPECT_EQ(found[2].name, "step");
    EXPECT_EQ(found[2].change_ns(), 0);
    for (const char* copy : {"fb.constprop.0", "fb.part.0", "fb.isra.0", "fb.cold", "fb.part.0.cold", "fb.cold.1",
                             "fb.llvm.1234", "fb.lto_priv.0"}) {
        const std::vector<Difference> copies = compare(run({"fb"}), run({copy}));
        ASSERT_EQ(copies.size(), 1U) << copy;
        EXPECT_EQ(copies[0].name, "fb");
        EXPECT_EQ(copies[0].change_ns(), 0);
    }
}

/// A run with so much time, ms, in functions of one binary, or in lines of them.
Hotspots run_in(const std::vector<std::pair<std::string, std::int64_t>>& functions, std::int64_t line = 0)
{
    Hotspots hotspots;
    for (const auto& [name, time] : functions) {
        Hotspot& item = hotspots.items.emplace_back();
        item.name = name;
        item.kind = "sampled";
        item.module = "/bin/app";
        item.file = line > 0 ? "/src/app.c" : "";
        item.line = line;
        item.path_ns = item.sampled_ns = time * 1'000'000;
        hotspots.path_ns += item.path_ns;
    }
    hotspots.domain_ns = hotspots.path_ns;
    hotspots.path_samples = hotspots.independent_samples = 1000;
    for (Hotspot& item : hotspots.items)
        hotspots.add_share(item);
    return hotspots;
}

/// "name: before -> after", ms, by name; with a star behind it if it is of several.
std::vector<std::string> changes(const std::vector<Difference>& found)
{
    std::vector<std::string> result;
    for (const Difference& d : found)
        result.push_back(fmt::format("{}: {} -> {}{}", d.name, d.before_ns / 1'000'000, d.after_ns / 1'000'000,
                                     d.of_several.empty() ? "" : " *"));
    std::ranges::sort(result);
    return result;
}

// A loop that takes next to nothing has been added before the others, so that these have other numbers.
TEST(Comparison, NumbersOfCompilersTellNothingInABinaryThatWasBuiltAnew)
{
    using testing::ElementsAre;
    const auto before = run_in({{"main._omp_fn.0", 390}, {"main._omp_fn.1", 130}, {"solve", 7}});
    const auto after = run_in({{"main._omp_fn.1", 392}, {"main._omp_fn.2", 131}, {"solve", 9}});
    EXPECT_THAT(changes(compare(before, after)), ElementsAre("main._omp_fn.*: 520 -> 523 *", "solve: 7 -> 9"));
    EXPECT_THAT(changes(compare(before, after, {std::nullopt, {"app"}})),
                ElementsAre("main._omp_fn.0: 390 -> 0", "main._omp_fn.1: 130 -> 392", "main._omp_fn.2: 0 -> 131",
                            "solve: 7 -> 9"))
        << "the same build";
    const auto as_before = run_in({{"main._omp_fn.0", 380}, {"main._omp_fn.1", 140}});
    EXPECT_THAT(changes(compare(before, as_before)),
                ElementsAre("main._omp_fn.0: 390 -> 380", "main._omp_fn.1: 130 -> 140", "solve: 7 -> 0"));
    // The regions of a C++ function are not that function.
    EXPECT_THAT(
        changes(compare(
            run_in({{"f()", 324}, {"f() [clone ._omp_fn.0]", 212}}),
            run_in({{"f()", 174}, {"f() [clone ._omp_fn.0] [clone .cold]", 130}, {"f() [clone ._omp_fn.1]", 248}}))),
        ElementsAre("f() [clone ._omp_fn.*]: 212 -> 378 *", "f(): 324 -> 174"));
    const auto line = run_in({{"main._omp_fn.0", 390}}, 10), same_line = run_in({{"main._omp_fn.1", 392}}, 10);
    EXPECT_THAT(changes(compare(line, same_line, {}, MatchBy::Line)), ElementsAre("main._omp_fn.*: 390 -> 392 *"));
}

TEST(Comparison, WhatAddressesTellApartIsOneRowInABinaryThatWasBuiltAnew)
{
    using testing::ElementsAre;
    const auto old_build = run_in({{"kernel [:0x12d0]", 216}, {"kernel [:0x1300]", 122}});
    const auto new_build = run_in({{"kernel [:0x12e0]", 217}, {"kernel [:0x1310]", 123}});
    const auto with_files = run_in({{"kernel [a.c]", 220}, {"kernel [b.c]", 121}});
    EXPECT_THAT(changes(compare(old_build, new_build)), ElementsAre("kernel [*]: 338 -> 340 *"));
    EXPECT_THAT(changes(compare(with_files, new_build)), ElementsAre("kernel [*]: 341 -> 340 *"));
    const auto two_of_one_name = run_in({{"kernel [a.c]", 440}, {"kernel [:0x1310]", 123}});
    EXPECT_THAT(changes(compare(run_in({{"kernel [a.c]", 220}, {"kernel [:0x12d0]", 121}}), two_of_one_name)),
                ElementsAre("kernel [*]: 121 -> 123 *", "kernel [a.c]: 220 -> 440"))
        << "its file tells which one it is";
    EXPECT_THAT(changes(compare(with_files, run_in({{"kernel [a.c]", 223}}))),
                ElementsAre("kernel [a.c]: 220 -> 223", "kernel [b.c]: 121 -> 0"));
}

// The compiler sees that functions do the same in one build only, since one of them has changed.
// A loop that is new has taken the number of the first one: both call the same function, which is inlined.
TEST(Comparison, WhatIsInlinedIntoNumberedFunctionsIsToldApartByWhereItIsCalled)
{
    const auto run = [](const std::vector<std::tuple<const char*, const char*, std::int64_t>>& rows) {
        std::vector<std::pair<std::string, std::int64_t>> times;
        for (const auto& row : rows)
            times.emplace_back("burn", std::get<2>(row));
        Hotspots result = run_in(times, 3);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            result.items[i].inlined_into = std::get<0>(rows[i]);
            result.items[i].called_at = std::get<1>(rows[i]);
        }
        return result;
    };
    const Hotspots before = run({{"main._omp_fn.0", "loop.c:9", 400}, {"main._omp_fn.1", "loop.c:10", 100}});
    const Hotspots after = run({{"main._omp_fn.1", "loop.c:9", 99}, {"main._omp_fn.2", "loop.c:10", 410}});
    for (const MatchBy by : {MatchBy::Line, MatchBy::Name}) {
        std::map<std::string, std::pair<std::int64_t, std::int64_t>> found;
        for (const Difference& d : compare(before, after, {}, by)) {
            EXPECT_EQ(d.of_several, "main._omp_fn.*");
            found[d.inlined_into] = {d.before_ns / 1'000'000, d.after_ns / 1'000'000};
        }
        EXPECT_EQ(found, (decltype(found){{"main._omp_fn.* at loop.c:9", {400, 99}},
                                          {"main._omp_fn.* at loop.c:10", {100, 410}}}));
    }
    EXPECT_EQ(compare(before, before).size(), 2U);
    EXPECT_EQ(compare(before, before).front().inlined_into, "main._omp_fn.0") << "the same ones in both runs";
}

TEST(Comparison, FunctionsWithTheSameCodeInOneBuildAreOneRow)
{
    using testing::ElementsAre;
    const auto folded = run_in({{"fill [= solve]", 300}, {"step.isra.0 [= pack]", 10}});
    const auto apart = run_in({{"fill", 101}, {"solve", 150}, {"pack", 11}, {"step.constprop.0", 4}});
    EXPECT_THAT(changes(compare(folded, apart)), ElementsAre("fill [= solve]: 300 -> 251", "step [= pack]: 10 -> 15"));
    EXPECT_THAT(changes(compare(apart, folded)), ElementsAre("fill [= solve]: 251 -> 300", "step [= pack]: 15 -> 10"));
    EXPECT_THAT(changes(compare(folded, run_in({{"fill [= relax = solve]", 290}, {"relax", 7}}))),
                ElementsAre("fill [= relax = solve]: 300 -> 297", "step [= pack]: 10 -> 0"));
    EXPECT_THAT(changes(compare(run_in({{"kernel [:0x10] [= pack]", 300}, {"kernel [:0x20]", 100}}),
                                run_in({{"kernel [:0x30] [= pack]", 290}, {"kernel [:0x10]", 90}}))),
                ElementsAre("kernel [*]: 400 -> 380 *"));
}

TEST(Comparison, NumbersOfCompilersAreKnown)
{
    for (const auto& [name, without] : std::vector<std::pair<std::string, std::string>>{
             {"main._omp_fn.12", "main._omp_fn.*"},
             {".omp_outlined..5", ".omp_outlined..*"},
             {"smooth.1", "smooth.*"},
             {"fluid::smooth.1", "fluid::smooth.*"},
             {"main::{lambda(long)#2}::operator()(long) const", "main::{lambda(long)#*}::operator()(long) const"},
             {"void each<main::{lambda(long)#1}>(long, main::{lambda(long)#1})",
              "void each<main::{lambda(long)#*}>(long, main::{lambda(long)#*})"},
             {"main::$_0::operator()() const", "main::$_*::operator()() const"},
             {"f.3(int)", "f.*(int)"},
             {"k::f(int) [clone ._omp_fn.0]", "k::f(int) [clone ._omp_fn.*]"},
             {"dgemm_", "dgemm_"},
             {"poly<2, 3>::at<1.5>(int)", "poly<2, 3>::at<1.5>(int)"},
             {"step2", "step2"},
             {"memcpy@GLIBC_2.2.5", "memcpy@GLIBC_2.2.5"},
             {"app+0x12", "app+0x12"},
         })
        EXPECT_EQ(without_numbers(name), without);
}

TEST(Comparison, WhatIsNewOrGoneHasNoTimeInTheOtherRun)
{
    const model::Profile sampled = samples::sampled_run().profile, traced = samples::traced_run().profile;
    const std::vector<Difference> found = compare(by_function(traced), by_function(sampled));
    std::int64_t change = 0;
    for (const Difference& d : found)
        change += d.change_ns();
    EXPECT_EQ(change, 10'000'000'000 - 40'000'000);
    const auto work = std::find_if(found.begin(), found.end(), [](const Difference& d) { return d.name == "work"; });
    ASSERT_NE(work, found.end());
    EXPECT_EQ(work->before_ns, 30'000'000);
    EXPECT_EQ(work->after_ns, 0);
    EXPECT_FALSE(work->is_estimate);
    EXPECT_EQ(work->change.low, -30'000'000);
    EXPECT_EQ(work->change.high, -30'000'000);
    EXPECT_FALSE(work->is_below_error());
}

TEST(Comparison, WhatIsLessThanAThousandthOfThePathIsNoNews)
{
    const auto changes = [](const std::vector<std::int64_t>& changes_ns, std::int64_t path_ns) {
        std::vector<Difference> all;
        for (const std::int64_t change_ns : changes_ns) {
            Difference& d = all.emplace_back();
            d.before_ns = 1'000'000'000;
            d.after_ns = d.before_ns + change_ns;
            const auto exact = static_cast<double>(change_ns);
            d.change = {exact, exact};
        }
        const Changed changed = changed_rows(all, path_ns);
        std::vector<std::int64_t> left;
        for (const Difference& d : changed.rows)
            left.push_back(d.change_ns());
        left.push_back(static_cast<std::int64_t>(changed.little));
        return left;
    };
    using Changes = std::vector<std::int64_t>;
    EXPECT_EQ(changes({900'000'000, -2'000'000, 2'000'000, -1'999'999, 0}, 2'000'000'000),
              (Changes{900'000'000, -2'000'000, 2'000'000, 1}));
    EXPECT_EQ(changes({300'000}, 5'000'000'000), (Changes{1}));
    EXPECT_EQ(changes({}, 0), (Changes{0}));
}

/// A build has one more lambda in front of them, so that they have other numbers. Which is which can be told where both
/// runs have as many at the line.
TEST(Comparison, LambdasOfOneLineAreTheSameInTheirOrder)
{
    const auto line = [](const std::string& name, std::int64_t number, std::int64_t ns) {
        Hotspot item;
        item.name = name;
        item.kind = "line";
        item.module = "/bin/app";
        item.file = "/src/a.cpp";
        item.line = number;
        item.path_ns = ns;
        return item;
    };
    const auto lambda = [](int number) {
        return fmt::format("main::{{lambda(int)#{}}}::operator()(int) const", number);
    };
    const auto each = [](int number) { return fmt::format("void each<main::{{lambda(int)#{0}}}>(int)", number); };
    Hotspots before, after;
    before.items = {line(lambda(9), 5, 100), line(lambda(10), 5, 20), line(lambda(11), 6, 3),
                    line(lambda(12), 7, 1),  line(each(9), 70, 40),   line(each(10), 70, 50)};
    after.items = {line(lambda(1), 3, 7),  line(lambda(10), 5, 104), line(lambda(11), 5, 21), line(lambda(12), 6, 5),
                   line(lambda(13), 7, 2), line(lambda(14), 7, 3),   line(each(10), 70, 45),  line(each(11), 70, 55)};
    std::map<std::string, std::string> changes;
    for (const Difference& d : compare(before, after, {}, MatchBy::Line))
        changes[fmt::format("{} {}", d.line, d.name)] =
            fmt::format("{} -> {}{}", d.before_ns, d.after_ns, d.of_several.empty() ? "" : " *");
    const std::string any = "main::{lambda(int)#*}::operator()(int) const";
    const std::map<std::string, std::string> expected = {
        {"3 " + any, "0 -> 7 *"},
        {"5 " + lambda(10), "100 -> 104"},
        {"5 " + lambda(11), "20 -> 21"},
        {"6 " + lambda(12), "3 -> 5"},
        {"7 " + any, "1 -> 5 *"},
        {"70 void each<main::{lambda(int)#*}>(int)", "90 -> 100 *"},  // a line of both, which has no order
    };
    EXPECT_EQ(changes, expected);
}

TEST(Comparison, LinesAreTheSameByFileLineFunctionAndWhatTheyAreInlinedInto)
{
    const auto line = [](const char* file, std::int64_t number, const char* into, std::int64_t ns) {
        Hotspot item;
        item.name = "f";
        item.kind = "line";
        item.module = "/bin/app";
        item.file = file;
        item.line = number;
        item.inlined_into = into;
        item.path_ns = ns;
        return item;
    };
    Hotspots before, after;
    before.items = {line("/old/a.c", 1, "", 10), line("/old/a.c", 2, "", 20), line("/old/a.c", 2, "g", 30)};
    after.items = {line("/new/a.c", 1, "", 15), line("/new/a.c", 2, "g", 32), line("/new/a.c", 3, "", 21)};
    std::map<std::tuple<std::int64_t, std::string>, std::int64_t> changes;
    for (const Difference& d : compare(before, after, {}, MatchBy::Line)) {
        EXPECT_EQ(d.file, d.after_ns > 0 ? "/new/a.c" : "/old/a.c");
        changes[{d.line, d.inlined_into}] = d.change_ns();
    }
    const decltype(changes) expected = {{{1, ""}, 5}, {{2, ""}, -20}, {{2, "g"}, 2}, {{3, ""}, 21}};
    EXPECT_EQ(changes, expected);
    // By name, it does not matter where a function is defined.
    std::map<std::string, std::int64_t> by_name;
    for (const Difference& d : compare(before, after))
        by_name[d.inlined_into] = d.change_ns();
    EXPECT_EQ(by_name, (std::map<std::string, std::int64_t>{{"", 6}, {"g", 2}}));
}

/// The sampled run, of a program by another name, and of what is called by that.
model::Profile run_of(const std::string& path, const std::string& command)
{
    model::Profile profile = samples::sampled_run().profile;
    for (model::Row& row : profile.rows) {
        if (!row.module.ends_with("/halo"))
            continue;
        row.module = path;
        if (row.name == "exchange")
            row.name = path.substr(path.rfind('/') + 1) + "+0x1240";
    }
    profile.properties["command"] = command;
    return profile;
}

// The same run twice: nothing changes, whatever the program is called.
// Of files that are called alike in one of the runs, as many directories count as tell them apart there.
TEST(Comparison, LinesOfFilesThatAreCalledAlikeAreOfTheirDirectories)
{
    const auto line = [](const char* file, std::int64_t ns) {
        Hotspot item;
        item.name = "f";
        item.kind = "line";
        item.module = "/bin/app";
        item.file = file;
        item.line = 1;
        item.path_ns = ns;
        return item;
    };
    Hotspots before, after;
    before.items = {line("/old/io/a.c", 10), line("/old/net/a.c", 20), line("/old/io/b.c", 5)};
    after.items = {line("/new/net/a.c", 50), line("/new/b.c", 6)};
    std::map<std::string, std::int64_t> changes;
    for (const Difference& d : compare(before, after, {}, MatchBy::Line))
        changes[d.short_file] = d.change_ns();
    EXPECT_EQ(changes, (std::map<std::string, std::int64_t>{{"io/a.c", -10}, {"net/a.c", 30}, {"b.c", 1}}));
}

TEST(Comparison, TheProgramMayHaveAnotherNameInEachRun)
{
    struct Case {
        const char *path, *command;
    };
    constexpr Case old_program = {"/old/app.old", "./app.old -n 4"};
    for (const Case& c :
         {Case{"/new/app.new", "./app.new -n 4"}, Case{"/old/app", "/old/app"}, Case{"/new/app.new", "app.new"},
          Case{"/new/app.new", "./link-to-app"}, Case{"/my programs/app.new", "/my programs/app.new"}}) {
        model::Profile before = run_of(old_program.path, old_program.command), after = run_of(c.path, c.command);
        for (model::Profile* profile : {&before, &after})
            profile->rows.push_back(
                {model::RowKind::Sampled, "main", profile == &before ? old_program.path : c.path, "", 0});
        for (const bool is_turned : {false, true}) {
            if (is_turned)
                std::swap(before, after);
            const auto renamed = renamed_program(before, after);
            ASSERT_TRUE(renamed) << c.command;
            const std::string name = c.path;
            EXPECT_EQ(is_turned ? renamed->before : renamed->after, name.substr(name.rfind('/') + 1));
            for (const auto group : {+[](const model::Profile& p) { return by_function(p); },
                                     +[](const model::Profile& p) { return by_module(p); }}) {
                const std::vector<Difference> found = compare(group(before), group(after), {renamed, {}});
                for (const Difference& d : found)
                    EXPECT_EQ(d.change_ns(), 0) << d.name;
                EXPECT_EQ(found.size(), compare(group(before), group(before)).size());
            }
        }
    }
}

TEST(Comparison, BinariesThatAreInBothRunsAreTheSame)
{
    const model::Profile app = run_of("/bin/app", "app"), other = run_of("/bin/other", "other");
    EXPECT_FALSE(renamed_program(app, run_of("/new/app", "app"))) << "the same name";
    EXPECT_FALSE(renamed_program(app, run_of("/bin/other", "start"))) << "nothing says what the program is";
    model::Profile with_app = other;
    with_app.rows.push_back({model::RowKind::Sampled, "f", "/lib/app", "", 0});
    EXPECT_FALSE(renamed_program(app, with_app));
    EXPECT_FALSE(renamed_program(with_app, app));
    EXPECT_TRUE(renamed_program(app, other));
}

/// A run of "app", all of it in functions of these names.
model::Profile run_with(const std::vector<std::string>& names, const std::string& build_id)
{
    OneRank run;
    for (const std::string& name : names)
        run.add(name, model::CallPathId::none(), 1'000'000);
    for (model::Row& row : run.profile().rows)
        row.module = "/bin/app";
    run.profile().modules = {{"/bin/app", build_id}};
    run.profile().facts["path_ns"] = 1'000'000 * static_cast<std::int64_t>(names.size());
    return run.profile();
}

TEST(Comparison, ABuildIsTheSameIfItsIdIs)
{
    const auto run = run_with({"f"}, "12");
    const auto same = [&](const model::Profile& other) { return builds_of(run, other).same; };
    EXPECT_THAT(same(run), testing::ElementsAre("app"));
    EXPECT_THAT(same(run_with({"f"}, "34")), testing::IsEmpty());
    EXPECT_THAT(builds_of(run_with({"f"}, ""), run_with({"f"}, "")).same, testing::IsEmpty()) << "nobody knows";
}

TEST(Comparison, BinariesThatDifferAreSaidTo)
{
    const auto named = run_with({"f", "g"}, "12"), rebuilt = run_with({"f", "h"}, "34");
    const auto stripped = run_with({"app+0x10", "app+0x20"}, "12"), other = run_with({"app+0x30", "app+0x40"}, "34");
    using testing::ElementsAre;
    using testing::IsEmpty;
    using testing::StartsWith;
    EXPECT_THAT(build_notes(named, named, std::nullopt), IsEmpty());
    EXPECT_THAT(build_notes(stripped, stripped, std::nullopt), IsEmpty());
    EXPECT_THAT(build_notes(named, run_with({"f"}, ""), std::nullopt), IsEmpty()) << "nobody knows";
    EXPECT_THAT(build_notes(named, rebuilt, std::nullopt), ElementsAre("Built anew between the runs: app."));
    EXPECT_THAT(build_notes(stripped, rebuilt, std::nullopt),
                ElementsAre(StartsWith("In the base, app has no symbols")));
    EXPECT_THAT(build_notes(named, stripped, std::nullopt),
                ElementsAre(StartsWith("In the trace, app has no symbols")));
    EXPECT_THAT(build_notes(stripped, other, std::nullopt),
                ElementsAre(StartsWith("app was built anew between the runs, so that a place in it (app+0x...)")));
    model::Profile new_name = run_with({"new+0x30", "new+0x40"}, "34");
    for (model::Row& row : new_name.rows)
        row.module = "/bin/new";
    new_name.modules = {{"/bin/new", "34"}};
    EXPECT_THAT(build_notes(named, new_name, std::nullopt), IsEmpty());
    EXPECT_THAT(build_notes(named, new_name, Renamed{"app", "new"}),
                ElementsAre(StartsWith("In the trace, new has no")));
}

/// A place of one binary is none of the other, though both are the program.
TEST(Comparison, PlacesOfTheFirstRunOnlyAreOfItsBinary)
{
    const auto before = run_with({"app+0x10", "app+0x20", "f"}, "12");
    model::Profile after = run_with({"new+0x20", "new+0x30"}, "34");
    for (model::Row& row : after.rows)
        row.module = "/bin/new";
    const Builds builds = {Renamed{"app", "new"}, {}};
    std::map<std::string, std::int64_t> changes;
    for (const Difference& d : compare(by_function(before), by_function(after), builds))
        changes[d.name + " " + d.module] = d.change_ns();
    EXPECT_EQ(changes, (std::map<std::string, std::int64_t>{{"app+0x10 /bin/app", -1'000'000},
                                                            {"f /bin/app", -1'000'000},
                                                            {"new+0x20 /bin/new", 0},
                                                            {"new+0x30 /bin/new", 1'000'000}}));
    after.path.clear();
    const std::vector<Difference> modules = compare(by_module(before), by_module(after), builds);
    ASSERT_EQ(modules.size(), 1U);
    EXPECT_EQ(modules[0].name, "app");
}

TEST(Comparison, RunsOfDifferentKindsAreSaidToBe)
{
    const auto of = [](const char* event) {
        model::Profile profile;
        profile.properties["event"] = event;
        return profile;
    };
    EXPECT_EQ(kinds_note(of("cpu-clock"), of("cpu-clock")), "");
    EXPECT_EQ(kinds_note(of(""), of("")), "");
    EXPECT_THAT(kinds_note(of(""), of("cpu-clock")), testing::StartsWith("The base has no samples"));
    EXPECT_THAT(kinds_note(of("cpu-clock"), of("")), testing::StartsWith("The trace has no samples"));
    EXPECT_THAT(kinds_note(of("cpu-timer"), of("cpu-clock")), testing::StartsWith("The base was sampled by timers"));
    EXPECT_THAT(kinds_note(of("cycles"), of("cpu-timer")), testing::StartsWith("The trace was sampled by timers"));
    EXPECT_THAT(kinds_note(of("cycles"), of("cpu-clock")),
                testing::StartsWith("The base was sampled by cycles, the trace by cpu-clock"));
}

}  // namespace
}  // namespace critpath::report

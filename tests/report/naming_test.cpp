// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What becomes of a profile whose functions get their names when it is read: no time is lost, and no order.
#include "analysis/naming/naming.hpp"
#include "analysis/naming/path_tails.hpp"
#include "analysis/report/hotspots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace critpath::report
{
namespace
{

using naming::complete_names;
using naming::name_fortran;

using model::CallPathId;
using model::RowId;
using model::RowKind;

// "zeta" and its part out of line are stripped, one function is another binary's, and one has no name that anybody
// knows. Rows are sorted as they were recorded: 0 to 5.
model::Profile stripped_profile()
{
    model::Profile p;
    p.facts["makespan_ns"] = p.facts["path_ns"] = 1111;
    p.properties["event"] = "cpu-timer";
    p.processes.push_back({"rank 0", "node", 1111, 0, 1111, 1111, 0, 6});
    p.modules = {{"/bin/app", "ab12"}, {"/lib/app", "cd34"}};
    p.rows = {{RowKind::Sampled, "app+0x1000", "/bin/app", "", 0}, {RowKind::Sampled, "app+0x2000", "/bin/app", "", 0},
              {RowKind::Sampled, "app+0x3000", "/bin/app", "", 0}, {RowKind::Sampled, "main", "/bin/app", "", 0},
              {RowKind::Sampled, "app+0x1000", "/lib/app", "", 0}, {RowKind::Mpi, "MPI_Send", "MPI", "", 0}};
    const CallPathId main{0};
    p.call_paths = {
        {RowId{3}, CallPathId::none()}, {RowId{0}, main}, {RowId{1}, main}, {RowId{2}, main}, {RowId{4}, main},
        {RowId{5}, CallPathId{1}}};
    const std::int64_t times[] = {1, 10, 100, 1000, 0, 0};
    for (std::uint32_t i = 0; i < 6; ++i) {
        p.path.push_back({CallPathId{i}, {0}, times[i], 1});
        p.totals.push_back({CallPathId{i}, model::ProcessId::none(), 2 * times[i], 2});
    }
    p.addresses = {{CallPathId{1}, 0x1004, 6, 1},
                   {CallPathId{1}, 0x1008, 4, 1},
                   {CallPathId{2}, 0x2000, 100, 1},
                   {CallPathId{3}, 0x3000, 1000, 1},
                   {CallPathId{4}, 0x1004, 0, 1}};
    p.kinds = {{model::SegmentKind::Compute, RowId::none(), {0}, 1111, 1},
               {model::SegmentKind::Mpi, RowId{5}, {0}, 0, 1}};
    p.stretches.resize(1);
    p.stretch_code = {{0, CallPathId{1}, 10, 1, 2, 3}, {0, CallPathId{0}, 1, 1, 0, 0}};
    for (const model::AddressTime& time : p.addresses)
        p.stretch_addresses.push_back({0, p.row_of(time.call_path), time.address, time.ns, 1, 2});
    return p;
}

std::optional<std::string> zeta(const binary::Module& module, std::uint64_t start, std::span<const std::uint64_t>)
{
    return module.path == "/bin/app" && start < 0x3000 ? std::optional<std::string>("zeta") : std::nullopt;
}

std::map<std::string, std::int64_t> path_by_name(const model::Profile& profile)
{
    std::map<std::string, std::int64_t> times;
    for (const Hotspot& item : by_function(profile).items)
        times[item.module + " " + item.name] += item.path_ns;
    return times;
}

TEST(CompleteNames, PartsOfOneFunctionAreOneRow)
{
    model::Profile profile = stripped_profile();
    complete_names(profile, zeta);
    EXPECT_EQ(path_by_name(profile), (std::map<std::string, std::int64_t>{{"/bin/app main", 1},
                                                                          {"/bin/app zeta", 10 + 100},
                                                                          {"/bin/app app+0x3000", 1000},
                                                                          {"/lib/app app+0x1000", 0},
                                                                          {"MPI MPI_Send", 0}}));
    EXPECT_EQ(profile.rows.size(), 5U);
    EXPECT_TRUE(std::is_sorted(profile.rows.begin(), profile.rows.end(), [](const model::Row& a, const model::Row& b) {
        return std::tie(a.kind, a.module, a.name) < std::tie(b.kind, b.module, b.name);
    }));
}

TEST(CompleteNames, AllThatRefersToRowsFollows)
{
    const model::Profile before = stripped_profile();
    model::Profile after = before;
    complete_names(after, zeta);
    const auto renamed = [](const std::string& name) {
        return name == "app+0x1000" || name == "app+0x2000" ? std::string("zeta") : name;
    };
    ASSERT_EQ(after.call_paths.size(), before.call_paths.size()) << "segments.bin has their numbers";
    for (std::uint32_t i = 0; i < before.call_paths.size(); ++i) {
        EXPECT_EQ(after.call_paths[i].parent, before.call_paths[i].parent);
        const model::Row& row = before.row({i});
        EXPECT_EQ(after.row({i}).name, row.module == "/lib/app" ? row.name : renamed(row.name));
        EXPECT_EQ(after.row({i}).module, row.module);
    }
    ASSERT_EQ(after.addresses.size(), before.addresses.size());
    for (std::size_t i = 0; i < before.addresses.size(); ++i) {
        EXPECT_EQ(after.addresses[i].call_path, before.addresses[i].call_path);
        EXPECT_EQ(after.addresses[i].address, before.addresses[i].address);
        EXPECT_EQ(after.addresses[i].ns, before.addresses[i].ns);
    }
    ASSERT_EQ(after.stretch_addresses.size(), before.stretch_addresses.size());
    for (const model::StretchAddress& at : after.stretch_addresses) {
        const auto old = std::ranges::find_if(before.stretch_addresses, [&](const auto& a) {
            return a.address == at.address && before.rows[a.row.value].module == after.rows[at.row.value].module;
        });
        ASSERT_NE(old, before.stretch_addresses.end());
        EXPECT_EQ(at.ns, old->ns);
    }
    EXPECT_TRUE(std::ranges::is_sorted(after.stretch_addresses, [](const auto& a, const auto& b) {
        return std::tie(a.row, a.address) < std::tie(b.row, b.address);
    }));
    EXPECT_FALSE(after.kinds[0].function.valid());
    EXPECT_EQ(after.rows[after.kinds[1].function.value].name, "MPI_Send");
    ASSERT_EQ(after.stretch_code.size(), 2U);
    EXPECT_EQ(after.row(after.stretch_code[0].call_path).name, "zeta");
    EXPECT_EQ(after.row(after.stretch_code[1].call_path).name, "main");
}

TEST(CompleteNames, OnlyOfWhatHasNoNameAndByItsAddresses)
{
    model::Profile profile = stripped_profile();
    profile.rows.push_back({RowKind::Sampled, "app+0x", "/bin/app", "", 0});
    profile.rows.push_back({RowKind::Sampled, "app+0x10x", "/bin/app", "", 0});
    profile.rows.push_back({RowKind::Sampled, "other+0x10", "/bin/app", "", 0});
    profile.rows.push_back({RowKind::Sampled, "[app]", "/bin/app", "", 0});
    profile.rows.push_back({RowKind::Region, "app+0x10", "/bin/app", "", 0});
    const std::vector<model::Row> rows = profile.rows;
    std::vector<std::tuple<std::string, std::string, std::uint64_t, std::size_t>> asked;
    complete_names(profile,
                   [&](const binary::Module& module, std::uint64_t start, std::span<const std::uint64_t> seen) {
                       asked.emplace_back(module.path, module.build_id, start, seen.size());
                       return std::nullopt;
                   });
    EXPECT_EQ(asked, (std::vector<std::tuple<std::string, std::string, std::uint64_t, std::size_t>>{
                         {"/bin/app", "ab12", 0x1000, 2},
                         {"/bin/app", "ab12", 0x2000, 1},
                         {"/bin/app", "ab12", 0x3000, 1},
                         {"/lib/app", "cd34", 0x1000, 1}}));
    for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_EQ(profile.rows[i].name, rows[i].name) << "nothing moves if nothing is known";
}

TEST(CompleteNames, OfAFileThatWasReplacedAreThoseOfTheOldOne)
{
    model::Profile profile;
    profile.modules = {{"/bin/app (deleted)", "ab12"}};
    profile.rows = {{RowKind::Sampled, "app+0x1000", "/bin/app (deleted)", "", 0}};
    complete_names(profile, [](const binary::Module&, std::uint64_t, std::span<const std::uint64_t>) {
        return std::optional<std::string>("zeta");
    });
    EXPECT_EQ(profile.rows.front().name, "zeta");
}

TEST(NameFortran, AsInTheSourceWhereThatTellsThemApart)
{
    const auto sampled = [](const char* name, const char* file = "") {
        return model::Row{RowKind::Sampled, name, "/bin/app", file, 0};
    };
    model::Profile profile;
    profile.modules = {{"/bin/app", "ab12"}};
    profile.rows = {sampled("MAIN__"),
                    sampled("c_name_"),
                    sampled("inner.0"),
                    sampled("inner.1"),
                    sampled("main"),
                    sampled("other.2", "a.f90"),
                    sampled("step_"),
                    sampled("step_.constprop.0"),
                    sampled("within.3.isra.0"),
                    sampled("zoom_ [= c_name_ = hop_]"),
                    {RowKind::Region, "user_", "", "", 0}};
    for (std::uint32_t i = 0; i < profile.rows.size(); ++i) {
        profile.call_paths.push_back({RowId{i}, CallPathId::none()});
    }
    std::map<std::string, std::string> names = {{"MAIN__", "main program"},
                                                {"inner.0", "inner"},
                                                {"inner.1", "inner"},
                                                {"step_", "step"},
                                                {"step_.constprop.0", "step"},
                                                {"other.2", "other"},
                                                {"user_", "user"},
                                                {"within.3.isra.0", "within"},
                                                {"main", "nobody"},
                                                {"zoom_", "zoom"},
                                                {"hop_", "hop"}};
    name_fortran(profile, [&](const binary::Module&, const std::string& symbol) { return names[symbol]; });
    std::vector<std::string> found;
    for (std::uint32_t i = 0; i < profile.call_paths.size(); ++i) {
        found.push_back(profile.row({i}).name);
    }
    EXPECT_EQ(found, (std::vector<std::string>{"main program", "c_name_", "inner.0", "inner.1", "main", "other.2",
                                               "step", "step", "within", "zoom [= c_name_ = hop]", "user_"}));
}

TEST(NameNamesakes, ByAsMuchOfTheDirectoryAsTellsThemApart)
{
    const auto sampled = [](const char* name, const char* module = "/bin/app") {
        return model::Row{RowKind::Sampled, name, module, "", 0};
    };
    model::Profile profile;
    profile.modules = {{"/bin/app", "ab12"}, {"/lib/other.so", "cd34"}};
    profile.rows = {sampled("kernel [util.c:0x10]"),
                    sampled("kernel [util.c:0x20]"),
                    sampled("kernel [util.c:0x30]"),
                    sampled("kernel [other.c]"),
                    sampled("alone [util.c:0x10]"),
                    sampled("twice [util.c:0x40]"),
                    sampled("twice [util.c:0x50]"),
                    sampled("unknown [util.c:0x60]"),
                    sampled("merged [util.c:0x70]"),
                    sampled("near [util.c:0x10] [= far]"),
                    sampled("odd [util.c:0xz]"),
                    sampled("kernel [util.c:0x20]", "/lib/other.so"),
                    {RowKind::Region, "user [util.c:0x10]", "", "", 0}};
    for (std::uint32_t i = 0; i < profile.rows.size(); ++i)
        profile.call_paths.push_back({RowId{i}, CallPathId::none()});
    std::map<std::uint64_t, std::string> files = {{0x10, "/src/io/a/util.c"}, {0x20, "/src/net/a/util.c"},
                                                  {0x30, "/src/b/util.c"},    {0x40, "/src/b/util.c"},
                                                  {0x50, "/src/b/util.c"},    {0x70, "/src/ltrans.o"}};
    naming::name_namesakes(
        profile, [&](const binary::Module&, std::uint64_t address) { return files[address]; },
        [](const binary::Module&, std::uint64_t) { return std::vector<std::string>(); });
    std::vector<std::string> found;
    for (std::uint32_t i = 0; i < profile.call_paths.size(); ++i)
        found.push_back(profile.row({i}).name);
    EXPECT_EQ(found, (std::vector<std::string>{"kernel [io/a/util.c]", "kernel [net/a/util.c]", "kernel [b/util.c]",
                                               "kernel [other.c]", "alone [a/util.c]", "twice [util.c:0x40]",
                                               "twice [util.c:0x50]", "unknown [util.c:0x60]", "merged [util.c:0x70]",
                                               "near [a/util.c] [= far]", "odd [util.c:0xz]", "kernel [a/util.c]",
                                               "user [util.c:0x10]"}));
    EXPECT_EQ(profile.rows.size(), found.size());
}

// All functions of the name are known, those that were not sampled, too: no more directories than they need.
TEST(NameNamesakes, OfFilesThatOptimisationAtLinkTimeHasForgotten)
{
    model::Profile profile;
    profile.modules = {{"/bin/app", "ab12"}};
    for (const char* name : {"kernel [:0x10]", "kernel [:0x30]", "solve [:0x40]", "solve [:0x50]", "unknown [:0x60]"}) {
        profile.call_paths.push_back({RowId{static_cast<std::uint32_t>(profile.rows.size())}, CallPathId::none()});
        profile.rows.push_back({RowKind::Sampled, name, "/bin/app", "", 0});
    }
    std::map<std::uint64_t, std::string> files = {{0x10, "/src/io/util.c"}, {0x20, "/src/net/util.c"},
                                                  {0x30, "/src/main.c"},    {0x40, "/src/solve.h"},
                                                  {0x50, "/src/solve.h"},   {0x60, ""}};
    naming::name_namesakes(
        profile, [&](const binary::Module&, std::uint64_t address) { return files[address]; },
        [&](const binary::Module&, std::uint64_t address) {
            return address < 0x40 ? std::vector{files[0x10], files[0x20], files[0x30]} : std::vector{files[0x40]};
        });
    std::vector<std::string> found;
    for (std::uint32_t i = 0; i < profile.call_paths.size(); ++i)
        found.push_back(profile.row({i}).name);
    EXPECT_EQ(found, (std::vector<std::string>{"kernel [io/util.c]", "kernel [main.c]", "solve [:0x40]",
                                               "solve [:0x50]", "unknown [:0x60]"}));
}

TEST(PathTails, AreAsShortAsTheyCanBeToldApart)
{
    using Tails = std::map<std::string, std::string>;
    EXPECT_EQ(naming::path_tails({"/a/x.c", "/b/y.c", ""}), (Tails{{"/a/x.c", "x.c"}, {"/b/y.c", "y.c"}, {"", ""}}));
    EXPECT_EQ(naming::path_tails({"/a/x.c", "/b/x.c", "/b/y.c"}),
              (Tails{{"/a/x.c", "a/x.c"}, {"/b/x.c", "b/x.c"}, {"/b/y.c", "y.c"}}));
    EXPECT_EQ(naming::path_tails({"x.c", "/x.c", "/a/x.c", "/b/a/x.c"}),
              (Tails{{"x.c", "x.c"}, {"/x.c", "/x.c"}, {"/a/x.c", "/a/x.c"}, {"/b/a/x.c", "b/a/x.c"}}));
    EXPECT_EQ(naming::path_tails({"/src/a/x.c"}, 1), (Tails{{"/src/a/x.c", "a/x.c"}}));
}

}  // namespace
}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What explain says in words is there for programs, too: in the columns of CSV and the members of JSON.
#include "analysis/report/explain/table.hpp"
#include "tests/report/stretches.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <variant>

namespace critpath::report
{
namespace
{

using testing::Contains;
using testing::IsSupersetOf;
using testing::Key;
using testing::Not;
using namespace tests;

std::string cell_text(const Cell& cell)
{
    if (const auto* text = std::get_if<std::string>(&cell))
        return *text;
    if (const auto* number = std::get_if<std::int64_t>(&cell))
        return fmt::format("{}", *number);
    if (const auto* seconds = std::get_if<Seconds>(&cell))
        return fmt::format("{} ms", seconds->ns / ms);
    if (const auto* share = std::get_if<Share>(&cell))
        return fmt::format("{:.0f} %", share->value * 100);
    return "else";
}

/// By the names of the columns; without cells that are empty.
std::map<std::string, std::string> row_of(const model::Profile& profile, const Explanation& e)
{
    const Table table = explanation_table(profile, {e}, "the trace");
    std::map<std::string, std::string> cells;
    table.each_row([&](std::span<const Cell> row) {
        ASSERT_EQ(row.size(), table.columns.size());
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string& key = table.columns[i].key;
            if (key.empty())
                continue;
            const bool is_new = cells.emplace(key, cell_text(row[i])).second;
            EXPECT_TRUE(is_new) << key;
            if (std::holds_alternative<std::monostate>(row[i]))
                cells.erase(key);
        }
    });
    return cells;
}

TEST(ExplainTable, HasAllThatIsSaidOfFunctions)
{
    const model::Profile p = one_stretch();
    Explanation e = explain(p, 0);
    const auto function = [](const char* name, double share) {
        return FunctionShare{name, share, "caller of " + std::string(name), "", {}, {}, "file of " + std::string(name)};
    };
    e.code.functions = {function("one", 0.4), function("two", 0.3), function("three", 0.2)};
    e.code.of_threads = function("threads", 0.9);
    e.code.blocked = {function("load", 0.8), "read", 0.25};
    e.code.blocked_longer = {function("nap", 1), "clock_nanosleep", 0.5};
    const std::map<std::string, std::string> row = row_of(p, e);
    for (const auto& [key, name] : std::map<std::string, std::string>{{"function", "one"},
                                                                      {"second_function", "two"},
                                                                      {"third_function", "three"},
                                                                      {"threads_function", "threads"},
                                                                      {"blocked_in", "load"},
                                                                      {"blocked_longer_in", "nap"}}) {
        const std::map<std::string, std::string> said = {
            {key, name}, {key + "_caller", "caller of " + name}, {key + "_apart", "file of " + name}};
        EXPECT_THAT(row, IsSupersetOf(said));
    }
    const std::map<std::string, std::string> blocked = {{"blocked_by", "read"},
                                                        {"blocked_in_percent", "80 %"},
                                                        {"blocked_in_seen_percent", "25 %"},
                                                        {"blocked_longer_by", "clock_nanosleep"},
                                                        {"blocked_longer_in_seen_percent", "50 %"}};
    EXPECT_THAT(row, IsSupersetOf(blocked));
}

/// The difference has two functions, which are as many in words.
TEST(ExplainTable, HasAllThatMakesTheDifference)
{
    model::Profile p = without_code(one_stretch());
    add_code(p, {sampled("main"), sampled("step"), sampled("more")}, {0, {}, 600 * ms, 600, 0, 0, 300 * ms});
    add_code(p, {sampled("main"), sampled("step"), sampled("also")}, {0, {}, 400 * ms, 400, 0, 0, 200 * ms});
    p.stretches[0].code_gaps = p.stretches[0].gaps;
    const Explanation e = explain(p, 0);
    const std::vector<FunctionShare> difference = e.difference();
    ASSERT_EQ(difference.size(), 2U);
    const std::map<std::string, std::string> said = {{"longer_function", "more"}, {"second_longer_function", "also"}};
    EXPECT_THAT(row_of(p, e), IsSupersetOf(said));
    EXPECT_THAT(row_of(p, e), Not(Contains(Key("third_longer_function"))));
}

TEST(ExplainTable, HasThePlaceAndTheRanks)
{
    const model::Profile p = one_stretch();
    Explanation e = explain(p, 0);
    e.before_site = "/src/solve.c:12";
    e.after_site = "/src/solve.c:34";
    e.apart = "the first by forward";
    e.calls_apart = "by forward";
    e.other_call = OtherCall{1, "/src/solve.c:12", "/src/solve.c:99"};
    e.faults = {2, 4750, 66, 5 * ms};
    RankReason reason;
    reason.rank = 1;
    reason.share = 0.6;
    reason.gaps = 17;
    reason.excess = 3.24;
    reason.parts[static_cast<std::size_t>(Factor::Preempted)] = 3;
    reason.parts[static_cast<std::size_t>(Factor::Blocked)] = 0.24;
    reason.errors[static_cast<std::size_t>(Factor::Blocked)] = 0.05;
    reason.cause = Factor::Preempted;
    e.named = reason;
    reason.rank = 2;
    reason.share = 0.4;
    e.other = reason;
    std::map<std::string, std::string> said = {
        {"from_site", "/src/solve.c:12"},
        {"to_site", "/src/solve.c:34"},
        {"place_apart", "the first by forward"},
        {"calls_apart", "by forward"},
        {"rank_site", "/src/solve.c:12"},
        {"rank_from_other_call", "1"},
        {"other_call_site", "/src/solve.c:99"},
        {"page_faults_rank", "2"},
        {"page_faults_on_rank", "4750"},
        {"peers_page_faults_of_rank", "66"},
        {"cause_rank", "1"},
        {"other_rank", "2"},
        {"cause_rank_longer_percent", "60 %"},
        {"other_rank_longer_percent", "40 %"},
    };
    for (const std::string rank : {"cause_rank", "other_rank"}) {
        said[rank + "_gaps"] = "17";
        said[rank + "_excess_percent"] = "324 %";
        said[rank + "_preempted_percent"] = "300 %";
        said[rank + "_blocked_percent"] = "24 %";
        said[rank + "_blocked_error_percent"] = "5 %";
    }
    EXPECT_THAT(row_of(p, e), IsSupersetOf(said));
}

}  // namespace
}  // namespace critpath::report

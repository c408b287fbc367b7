// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/model/anomalies.hpp"
#include "analysis/report/clocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <variant>

namespace critpath::report
{
namespace
{

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

model::Profile with(std::initializer_list<std::pair<const char*, std::int64_t>> facts)
{
    model::Profile p;
    for (const auto& [key, value] : facts)
        p.facts[key] = value;
    return p;
}

TEST(ClockNotes, SayHowMuchOfThePathTheyDecide)
{
    EXPECT_THAT(clock_notes(with({{"path_ns", 1000}, {"clock_domains", 1}})), IsEmpty());
    EXPECT_THAT(clock_notes(with({{"path_ns", 1000},
                                  {"clock_domains", 2},
                                  {"clock_decided_ns", 100},
                                  {"clock_doubted_ns", 50},
                                  {"clock_uncertainty_ns", 2000}})),
                ElementsAre("Clocks: 10.0 % of the path was decided within their error (2 µs); shares of ranks are "
                            "right within 5.0 % of the path."));
}

/// What is decided within an error is not known where the error is not.
TEST(ClockNotes, OfClocksThatNothingRelatesOnlyThatIsSaid)
{
    EXPECT_THAT(clock_notes(with({{"path_ns", 1000}, {"clock_domains", 2}, {"clocks_unknown", 1}})),
                ElementsAre(AllOf(StartsWith("Warning: nothing relates 1 clock to the others"),
                                  HasSubstr("cannot tell which ranks"))));
    for (const std::int64_t unknown : {0, 1})
        for (const Field& field : clock_fields(with({{"path_ns", 1000}, {"clocks_unknown", unknown}})))
            EXPECT_EQ(std::holds_alternative<std::monostate>(field.value), unknown > 0 && field.key != "clocks_unknown")
                << field.key;
}

TEST(ClockNotes, SayIfOneClockIsNotOne)
{
    const auto notes = [](std::int64_t backwards) {
        return clock_notes(with({{"path_ns", 1000},
                                 {"clock_domains", 1},
                                 {"messages", 80},
                                 {"collectives", 20},
                                 {"clock_violations", backwards}}));
    };
    EXPECT_THAT(notes(0), IsEmpty());
    EXPECT_THAT(notes(1), ElementsAre(StartsWith("Warning: 1 dependency runs backwards in time")));
    EXPECT_THAT(
        clock_notes(with({{"path_ns", 1000}, {"clock_domains", 1}, {"messages", 101}, {"clock_violations", 1}})),
        IsEmpty());
    EXPECT_THAT(notes(40),
                ElementsAre(AllOf(StartsWith("Warning: 40 dependencies run backwards in time"),
                                  HasSubstr("Does it name the nodes"), HasSubstr("was everything recorded"))));
}

TEST(ClockNotes, OneClockDoesNotDisagreeWithItself)
{
    const auto* const oddity =
        std::ranges::find(model::oddities, std::string_view("clock_violations"), &model::Oddity::fact);
    ASSERT_NE(oddity, model::oddities.end());
    EXPECT_THAT(model::words_of(*oddity, 2), HasSubstr("clocks disagree"));
    EXPECT_THAT(model::words_of(*oddity, 1), HasSubstr("not all operations were recorded"));
}

}  // namespace
}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/model/pseudo_rows.hpp"
#include "analysis/report/refused.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace critpath::tests
{
namespace
{

using report::no_run_delay_note;
using report::refusal_of;
using report::refused_events;
using report::refused_text;
using report::uncounted_note;
using report::unknown_misses_note;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

model::Profile on_ranks(std::size_t ranks, const std::string& refused, std::size_t nodes = 1)
{
    model::Profile profile;
    profile.processes.resize(ranks);
    for (std::size_t i = 0; i < ranks; ++i)
        profile.processes[i].node = fmt::format("n{}", i % nodes);
    if (!refused.empty())
        profile.properties["refused_events"] = refused;
    return profile;
}

TEST(Refused, AdviceStaysWhereNobodyAsked)
{
    const model::Profile profile = on_ranks(4, "");
    EXPECT_TRUE(refused_events(profile).empty());
    EXPECT_EQ(refused_text(profile), "");
    EXPECT_EQ(refusal_of(profile, "cycles"), "");
    EXPECT_THAT(uncounted_note(profile), AllOf(HasSubstr("record with --counters"), Not(HasSubstr("refused"))));
    EXPECT_THAT(unknown_misses_note(profile), AllOf(HasSubstr("record with --events"), Not(HasSubstr("refused"))));
}

TEST(Refused, WhatTheMachineDoesNotHaveIsNotAdvised)
{
    const model::Profile profile = on_ranks(2, "PAPI_TOT_INS=not supported=2,cycles=not supported=2");
    EXPECT_EQ(refused_text(profile), "PAPI_TOT_INS, cycles: not supported");
    EXPECT_EQ(refusal_of(profile, "cycles"), "not supported");
    EXPECT_THAT(uncounted_note(profile),
                AllOf(HasSubstr("counters were refused on this machine (cycles: not supported)"),
                      HasSubstr("record on a machine that has"), Not(HasSubstr("--counters"))));
    EXPECT_THAT(unknown_misses_note(profile),
                AllOf(HasSubstr("counters were refused on this machine"), Not(HasSubstr("--events"))));
    EXPECT_THAT(uncounted_note(on_ranks(4, "cycles=not supported=4", 2)),
                HasSubstr("counters were refused on all of these machines (cycles: not supported)"));
}

TEST(Refused, SaysOnHowManyRanks)
{
    const model::Profile profile =
        on_ranks(4, "cycles=not permitted=1,cycles=not supported=2,perf::X:u=1=too many at once=4", 2);
    ASSERT_EQ(refused_events(profile).size(), 3U);
    EXPECT_EQ(refused_events(profile).back().name, "perf::X:u=1");
    EXPECT_EQ(refused_text(profile), "cycles: not permitted (1 of 4 ranks); cycles: not supported (2 of 4 ranks); "
                                     "perf::X:u=1: too many at once");
    EXPECT_EQ(refusal_of(profile, "cycles"), "not permitted on 1 rank, not supported on 2 ranks");
    EXPECT_THAT(uncounted_note(profile),
                HasSubstr("counters were refused on 3 of 4 ranks (cycles: not permitted on 1 rank, "
                          "not supported on 2 ranks); to tell, record on a machine that has"));
    EXPECT_EQ(refusal_of(on_ranks(4, "cycles=failed=3"), "cycles"), "failed on 3 of 4 ranks");
}

TEST(Refused, WhatIsNotPermittedCanBeAllowed)
{
    const model::Profile profile = on_ranks(3, "cycles=not permitted=1");
    EXPECT_THAT(uncounted_note(profile),
                AllOf(HasSubstr("counters were refused on 1 of 3 ranks (cycles: not permitted)"),
                      HasSubstr("kernel.perf_event_paranoid")));
}

TEST(Refused, WithoutPapiCyclesCanStillBeSampled)
{
    const model::Profile profile = on_ranks(3, "PAPI_TOT_INS=no PAPI=3");
    EXPECT_THAT(uncounted_note(profile), AllOf(HasSubstr("(PAPI_TOT_INS: no PAPI); sample cycles")));
}

TEST(Refused, DamagedListsAreNoEvents)
{
    for (const char* list : {"", ",", "=", "==", "cycles", "cycles=4", "=not supported=4"})
        EXPECT_TRUE(refused_events(on_ranks(2, list)).empty()) << list;
}

TEST(Refused, WaitsThatNobodyCountsAreSaidWhereThePathIsBlocked)
{
    model::Profile profile = on_ranks(2, "");
    profile.locations.resize(4);
    profile.rows.push_back({model::RowKind::Sampled, "work", "app", "", 0});
    profile.rows.push_back({model::RowKind::Pseudo, std::string(model::pseudo::blocked), "", "", 0});
    profile.call_paths = {{model::RowId{0}, model::CallPathId::none()}, {model::RowId{1}, model::CallPathId{0}}};
    profile.path.push_back({model::CallPathId{0}, model::ProcessId{0}, 900, 9});
    EXPECT_EQ(no_run_delay_note(profile), "");
    profile.facts["no_run_delay"] = 4;
    EXPECT_EQ(no_run_delay_note(profile), "");
    profile.path.push_back({model::CallPathId{1}, model::ProcessId{0}, 100, 0});
    EXPECT_THAT(no_run_delay_note(profile),
                AllOf(HasSubstr("[blocked] may in part be [preempted]"), Not(HasSubstr(" of "))));
    profile.facts["no_run_delay"] = 1;
    EXPECT_THAT(no_run_delay_note(profile), HasSubstr("(1 of 4 threads)"));
    profile.facts["no_run_delay"] = 0;
    EXPECT_EQ(no_run_delay_note(profile), "");
}

}  // namespace
}  // namespace critpath::tests

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What is said of all rows of a list.
#include "analysis/report/hotspot_list.hpp"
#include "analysis/report/hotspot_views.hpp"
#include "tests/report/one_rank.hpp"

#include <gmock/gmock.h>

#include <optional>

namespace critpath::report
{
namespace
{

// Samples have found 600 of 1000 ms there, segments were 590: the other rank has the difference.
OneRank two_ranks()
{
    OneRank run;
    run.add("main", model::CallPathId::none(), 600'000'000);
    model::Profile& profile = run.profile();
    profile.facts["path_ns"] = 1'000'000'000;
    profile.processes.push_back(profile.processes.front());
    profile.path.push_back({{0}, {1}, 400'000'000, 10});
    profile.processes[0].path_ns = 590'000'000;
    profile.processes[1].path_ns = 410'000'000;
    return run;
}

TEST(RanksNote, SaysWhereSamplesGiveARankAnotherTime)
{
    OneRank run = two_ranks();
    model::Profile& profile = run.profile();
    EXPECT_THAT(ranks_note(profile, {{0}, {}}),
                testing::HasSubstr("What this rank has on the path is 600 ms by these rows "
                                   "and 590 ms by its segments"));
    EXPECT_THAT(ranks_note(profile, {{1}, {}}), testing::HasSubstr("400 ms by these rows and 410 ms"));
    EXPECT_EQ(ranks_note(profile, {}), "");
    EXPECT_EQ(ranks_note(profile, {{0, 1}, {}}), "");
    EXPECT_EQ(ranks_note(profile, {{0}, "app"}), "") << "these rows are not all of the rank";
    profile.processes[0].path_ns = 599'500'000;
    EXPECT_EQ(ranks_note(profile, {{0}, {}}), "") << "nobody can see that";
}

TEST(RanksNote, IsInAllViewsOfRowsAndOfAPartOfTheRun)
{
    OneRank run = two_ranks();
    const model::Profile& profile = run.profile();
    const Request request{"", "", Arguments({{"--top", "0"}, {"--sort", "path"}}, {})};
    for (const auto view : {function_view, module_view, line_view, call_path_view})
        for (const std::optional<Window> window : {std::optional<Window>(), std::optional(Window{0, 1'000'000'000})})
            EXPECT_THAT(view({profile, profile, request, {{1}, {}}, false, window}).notes,
                        testing::Contains(testing::HasSubstr("400 ms by these rows and 410 ms")));
}

}  // namespace
}  // namespace critpath::report

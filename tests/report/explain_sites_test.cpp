// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Peers that come from calls at different places of the program.
#include "analysis/report/explain/sites.hpp"
#include "analysis/report/lines.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::report
{
namespace
{

using testing::HasSubstr;
using testing::Not;
using namespace tests;

/// Rank 3 comes from the call of main at 0x20, rank 1 from that at 0x10, both to the same one.
struct TwoPlaces {
    explicit TwoPlaces(const char* call) : profile(one_stretch())
    {
        for (model::Row& row : profile.rows)
            row.module = "/bin/app";
        profile.rows.push_back({model::RowKind::Mpi, call, "MPI", "", 0});
        const auto row = static_cast<std::uint32_t>(profile.rows.size() - 1);
        profile.call_paths.push_back({{row}, {0}, 0x10});
        profile.call_paths.push_back({{row}, {0}, 0x20});
        profile.stretches[0].before = second;
    }
    [[nodiscard]] Explanation explained(const std::vector<PathGap>& gaps) const
    {
        binary::SourceLines lines = source_lines(profile);
        Explanation e = explain(profile, 0, &lines);
        add_sites(profile, gaps, lines, e);
        return e;
    }

    static constexpr model::CallPathId first{5}, second{6};
    model::Profile profile;
};

TEST(ExplainSites, SaysThatPeersComeFromAnotherCall)
{
    const TwoPlaces farm("MPI_Recv");
    const Explanation e = farm.explained({{{0, 80 * ms}, 1, farm.first}, {{100 * ms, 1020 * ms}, 3, farm.second}});
    EXPECT_THAT(
        e.sentence(farm.profile, "the trace"),
        HasSubstr(" Rank 1 comes here from another MPI_Recv (app+0x10) than rank 3 (app+0x20): what they do may "
                  "be different work."));
}

TEST(ExplainSites, SaysNothingOfRanksThatShareCalls)
{
    const TwoPlaces farm("MPI_Recv");
    EXPECT_FALSE(farm.explained({}).other_call);
    EXPECT_FALSE(farm.explained({{{0, 900 * ms}, 3, farm.second}}).other_call);
    EXPECT_FALSE(farm.explained({{{0, 80 * ms}, 1, farm.second}, {{100 * ms, 1020 * ms}, 3, farm.second}}).other_call);
    EXPECT_FALSE(farm.explained({{{0, 80 * ms}, 1, farm.first},
                                 {{100 * ms, 1000 * ms}, 3, farm.second},
                                 {{1000 * ms, 1020 * ms}, 3, farm.first}})
                     .other_call);
    EXPECT_FALSE(farm.explained({{{0, 20 * ms}, 1, farm.first}, {{100 * ms, 1080 * ms}, 3, farm.second}}).other_call)
        << "hardly any of it";
}

/// Those who take part in one operation from different places are one another's peers.
TEST(ExplainSites, SaysNothingOfCollectives)
{
    const TwoPlaces farm("MPI_Bcast");
    EXPECT_FALSE(farm.explained({{{0, 80 * ms}, 1, farm.first}, {{100 * ms, 1020 * ms}, 3, farm.second}}).other_call);
}

}  // namespace
}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Which functions a stretch is said to be in, where it is plain who computes.
#include "analysis/report/explain/around.hpp"
#include "analysis/report/explain/explain.hpp"
#include "tests/report/stretches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace critpath::report
{
namespace
{

using testing::HasSubstr;
using testing::Not;
using namespace tests;

/// The same call of MPI_Allreduce is before and behind the stretch: main > solve > global_sum makes it.
class ExplainAround : public testing::Test
{
protected:
    ExplainAround()
    {
        profile_.rows[1].name = "solve";
        profile_.rows[2].name = "global_sum";
        profile_.call_paths.push_back({{4}, {2}});
        profile_.stretches[0].before = profile_.stretches[0].after = {5};
    }
    void compute(const std::vector<std::string>& path, std::int64_t samples)
    {
        std::vector<model::Row> rows;
        for (const std::string& name : path)
            rows.push_back(sampled(name));
        add_code(profile_, rows, {0, {}, samples * ms, static_cast<std::uint64_t>(samples)});
    }
    [[nodiscard]] std::string where() const { return explain(profile_, 0).caller; }

    model::Profile profile_ = without_code(one_stretch());
};

TEST_F(ExplainAround, IsNotAWrapperOfTheCalls)
{
    for (const char* name : {"a", "b", "c", "d", "e"})
        compute({"main", "solve", name}, 200);
    EXPECT_EQ(where(), "main > solve");
    const Explanation e = explain(profile_, 0);
    EXPECT_THAT(e.headline(), HasSubstr(" in solve: "));
    EXPECT_THAT(sentence(profile_), HasSubstr("from global_sum > MPI_Allreduce to global_sum > MPI_Allreduce in main > "
                                              "solve,"));
}

TEST_F(ExplainAround, IsNoFunctionThatHasLessThanNearlyAll)
{
    compute({"main", "assemble"}, 150);
    compute({"main", "solve", "global_sum"}, 850);
    EXPECT_EQ(where(), "main");
    compute({"main", "solve", "global_sum"}, 1000);
    EXPECT_EQ(where(), "main > solve > global_sum") << "with 92 %";
    compute({"sin"}, 9000);
    EXPECT_EQ(where(), "main > solve > global_sum") << "nobody knows who called that";
}

TEST_F(ExplainAround, IsNotTheCallerOfBothWhereNobodyKnows)
{
    EXPECT_EQ(where(), "main > solve");
    compute({"main", "solve", "global_sum"}, 4);
    EXPECT_EQ(where(), "main > solve") << "all four could be there by chance";
    compute({"main", "solve", "global_sum"}, 1);
    EXPECT_EQ(where(), "main > solve > global_sum");
    profile_.stretch_code.clear();
    profile_.stretches[0].before = {3};  // by solve
    EXPECT_EQ(where(), "main > solve") << "which goes on from that one to the other";
}

TEST_F(ExplainAround, IsTheOutermostFunctionInAnyCase)
{
    profile_.stretches[0].before = profile_.stretches[0].after = {6};
    profile_.call_paths.push_back({{4}, {0}});
    EXPECT_EQ(where(), "main");
}

/// What makes both calls and does not have all of it can be what has most of it.
TEST_F(ExplainAround, HasFunctionsThatHaveMost)
{
    for (int i = 0; i < 20; ++i)
        compute({"main", "solve", "leaf" + std::to_string(i)}, 40);
    compute({"main", "assemble"}, 200);
    EXPECT_EQ(where(), "main");
    EXPECT_THAT(sentence(profile_), HasSubstr("solve with what it calls (80 %)"));
    profile_.stretch_code.back().ns = 20 * ms;
    EXPECT_EQ(where(), "main > solve");
    EXPECT_THAT(sentence(profile_), Not(HasSubstr("solve with what it calls")));
}

}  // namespace
}  // namespace critpath::report

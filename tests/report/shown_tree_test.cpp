// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/shown_tree.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace critpath::report
{
namespace
{

/// main only leads to step, which has 96 % of its time, and to the little that finish has; so does step to solve.
struct RowsProgram {
    model::Profile profile;
    TreeTimes times;

    RowsProgram()
    {
        using model::CallPathId;
        //                     0 main                    1 step         2 solve        3 relax        4 finish
        profile.call_paths = {{{0}, CallPathId::none()}, {{1}, {0}}, {{2}, {1}}, {{3}, {2}}, {{4}, {0}}};
        const std::vector<std::int64_t> own = {0, 0, 50, 46, 4};
        times = tree_times_of(profile, {100, 96, 96, 46, 4}, own);
    }

    /// By row, what it ends with.
    [[nodiscard]] std::vector<std::size_t> rows(std::uint64_t top) const
    {
        std::vector<std::size_t> candidates(profile.call_paths.size());
        std::iota(candidates.begin(), candidates.end(), 0U);
        std::vector<std::size_t> result;
        ShownTree(profile, times, candidates, top)
            .walk([&](const std::vector<std::size_t>& paths, const ShownTree::Branch&) {
                result.push_back(paths.back());
            });
        return result;
    }
};

using Rows = std::vector<std::size_t>;

/// A caller that leads to one row is no row; it is one as soon as it leads to two.
TEST(ShownTree, HasNoMoreRowsThanAskedFor)
{
    const RowsProgram program;
    EXPECT_EQ(program.rows(1), (Rows{2}));
    EXPECT_EQ(program.rows(2), (Rows{2, 3}));
    EXPECT_EQ(program.rows(3), (Rows{2, 3})) << "finish takes two";
    EXPECT_EQ(program.rows(4), (Rows{0, 2, 3, 4}));
    EXPECT_EQ(program.rows(0), (Rows{0, 2, 3, 4}));
}

}  // namespace
}  // namespace critpath::report

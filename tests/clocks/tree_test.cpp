// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::replayer::clocks
{
namespace
{

using testing::ElementsAre;

constexpr std::uint32_t none = Tree::none;
constexpr std::int64_t unknown = Tree::unknown;

/// Of `links`, each process knows some.
Tree paths(std::vector<std::int64_t> error, const std::vector<Link>& links)
{
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<Link> own;
    for (std::size_t i = 0; i < links.size(); ++i)
        if (static_cast<int>(i) % size == rank)
            own.push_back(links[i]);
    return shortest_paths(MPI_COMM_WORLD, std::move(error), own);
}

TEST(Tree, TakesTheWayWithTheLeastError)
{
    // 0 - 1 - 2 - 3 is shorter than 0 - 3; nothing leads to 4.
    const Tree tree = paths({0, unknown, unknown, unknown, unknown}, {{0, 3, 100}, {0, 1, 20}, {1, 2, 20}, {2, 3, 20}});
    EXPECT_THAT(tree.parent, ElementsAre(none, 0, 1, 2, none));
    EXPECT_THAT(tree.error, ElementsAre(0, 20, 40, 60, unknown));
    EXPECT_THAT(tree.level, ElementsAre(0, 1, 2, 3, 0));
    EXPECT_EQ(tree.depth, 3);
}

TEST(Tree, WhatWasMeasuredWellNeedsNoOther)
{
    const Tree tree = paths({0, 5, unknown}, {{0, 1, 5}, {1, 2, 1}, {0, 2, 7}});
    EXPECT_THAT(tree.parent, ElementsAre(none, none, 1));
    EXPECT_THAT(tree.error, ElementsAre(0, 5, 6));
}

TEST(Tree, EqualWaysGoOverTheSmallerNumber)
{
    const Tree tree = paths({0, unknown, unknown, unknown}, {{2, 3, 10}, {0, 2, 10}, {1, 3, 10}, {0, 1, 10}});
    EXPECT_THAT(tree.parent, ElementsAre(none, 0, 0, 1));
}

}  // namespace
}  // namespace critpath::replayer::clocks

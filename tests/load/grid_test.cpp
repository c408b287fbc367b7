// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Cartesian topologies: the neighbours that MPI_Cart_shift would name.
#include "replayer/load/grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::replayer::load
{
namespace
{

using testing::ElementsAre;
using testing::IsEmpty;

constexpr bool periodic = true;

TEST(Grid, ALineEnds)
{
    const auto line = neighbours({{{4, !periodic}}, {}}, 4);
    ASSERT_TRUE(line);
    EXPECT_THAT(line->of(0), ElementsAre(1));
    EXPECT_THAT(line->of(2), ElementsAre(1, 3));
    EXPECT_THAT(line->of(3), ElementsAre(2));
    EXPECT_FALSE(line->known(4));
    EXPECT_THAT(line->of(4), IsEmpty());
}

TEST(Grid, ARingCloses)
{
    const auto ring = neighbours({{{4, periodic}}, {}}, 4);
    ASSERT_TRUE(ring);
    EXPECT_THAT(ring->of(0), ElementsAre(1, 3));
    EXPECT_THAT(neighbours({{{2, periodic}}, {}}, 2)->of(0), ElementsAre(1));  // both sides are the same
    EXPECT_THAT(neighbours({{{1, periodic}}, {}}, 1)->of(0), ElementsAre(0));  // itself
    EXPECT_TRUE(neighbours({{{1, !periodic}}, {}}, 1)->known(0));
    EXPECT_THAT(neighbours({{{1, !periodic}}, {}}, 1)->of(0), IsEmpty());
}

/// 0 1 2
/// 3 4 5
TEST(Grid, APlaneIsInRowMajorOrder)
{
    const auto plane = neighbours({{{2, !periodic}, {3, periodic}}, {}}, 6);
    ASSERT_TRUE(plane);
    EXPECT_THAT(plane->of(0), ElementsAre(1, 2, 3));
    EXPECT_THAT(plane->of(4), ElementsAre(1, 3, 5));
}

TEST(Grid, CoordinatesDecideWhereRanksAre)
{
    const auto line = neighbours({{{3, !periodic}}, {{0, {1}}, {1, {0}}, {2, {2}}}}, 3);  // 1 0 2
    ASSERT_TRUE(line);
    EXPECT_THAT(line->of(0), ElementsAre(1, 2));
    EXPECT_THAT(line->of(1), ElementsAre(0));
}

TEST(Grid, WhatIsNotOnePlaceARankTellsNothing)
{
    EXPECT_FALSE(neighbours({{}, {}}, 1));
    EXPECT_FALSE(neighbours({{{4, periodic}}, {}}, 3));
    EXPECT_FALSE(neighbours({{{0, periodic}}, {}}, 0));
    EXPECT_FALSE(neighbours({{{1U << 31, periodic}, {1U << 31, periodic}, {4, periodic}}, {}}, 4));
    EXPECT_FALSE(neighbours({{{2, periodic}}, {{0, {0}}}}, 2));            // rank 1 is nowhere
    EXPECT_FALSE(neighbours({{{2, periodic}}, {{0, {0}}, {1, {0}}}}, 2));  // two in one place
    EXPECT_FALSE(neighbours({{{2, periodic}}, {{0, {0}}, {0, {1}}}}, 2));  // one in two places
    EXPECT_FALSE(neighbours({{{2, periodic}}, {{0, {0}}, {1, {2}}}}, 2));
    EXPECT_FALSE(neighbours({{{2, periodic}}, {{0, {0}}, {1, {1, 0}}}}, 2));
    EXPECT_FALSE(neighbours({{{2, periodic}}, {{0, {0}}, {2, {1}}}}, 2));
}

}  // namespace
}  // namespace critpath::replayer::load

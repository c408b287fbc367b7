// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/time_namespace.hpp"

#include <gtest/gtest.h>

namespace critpath::sampling
{
namespace
{

TEST(TimeNamespace, ReadsTheKernelsTable)
{
    EXPECT_EQ(parse_time_offset("monotonic           0         0\nboottime            0         0\n"), 0);
    EXPECT_EQ(parse_time_offset("monotonic        1000       250\nboottime            7         0\n"),
              1'000'000'000'250);
    EXPECT_EQ(parse_time_offset("monotonic         -12 500000000\nboottime            7         0\n"), -11'500'000'000);
}

TEST(TimeNamespace, NoTableMeansNoOffset)
{
    EXPECT_EQ(parse_time_offset(""), 0);
    EXPECT_EQ(parse_time_offset("boottime            7         0\n"), 0);
    EXPECT_EQ(parse_time_offset("monotonic"), 0);
}

}  // namespace
}  // namespace critpath::sampling

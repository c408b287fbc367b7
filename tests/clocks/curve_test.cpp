// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/curve.hpp"

#include <gtest/gtest.h>

namespace critpath::replayer::clocks
{
namespace
{

using model::Ns;

const Curve bent({{-1000, 50, 5}, {0, 100, 5}, {1000, 80, 7}});

TEST(Curve, NothingIsTheSameClock)
{
    EXPECT_EQ(Curve()(Ns{-7}), Ns{-7});
    EXPECT_EQ(Curve().back(Ns{-7}), Ns{-7});
    EXPECT_TRUE(Curve().is_identity());
}

TEST(Curve, IsLinearBetweenItsKnots)
{
    EXPECT_EQ(bent(Ns{-1000}), Ns{-950});
    EXPECT_EQ(bent(Ns{-500}), Ns{-425});
    EXPECT_EQ(bent(Ns{500}), Ns{590});
    EXPECT_EQ(bent.largest_shift(Ns{-1000}, Ns{1000}), 100);
    EXPECT_EQ(bent.largest_error(Ns{0}, Ns{1000}), 7);
}

TEST(Curve, LeadsBack)
{
    for (std::int64_t time = -1500; time <= 1500; time += 37) {
        const Ns there = bent(Ns{time});
        EXPECT_LE(bent(bent.back(there)), there);
        EXPECT_GT(bent(bent.back(there) + Ns{1}), there);
        const Ns again = bent.reversed()(there);
        EXPECT_LE(std::chrono::abs(again - Ns{time}), Ns{1}) << time;
    }
}

TEST(Curve, ChainsBendWhereTheirPartsDo)
{
    const Curve second({{-900, 0, 1}, {70, 300, 1}, {2000, 310, 1}});
    const Curve both = chain(bent, second, 3);
    for (std::int64_t time = -990; time <= 990; time += 11)
        EXPECT_LE(std::chrono::abs(both(Ns{time}) - second(bent(Ns{time}))), Ns{2}) << time;
    EXPECT_GE(both.error(Ns{0}), 5 + 1 + 3);
}

}  // namespace
}  // namespace critpath::replayer::clocks

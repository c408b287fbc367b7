// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Runs under mpirun; all processes run the same cases, and all must pass.
#include "replayer/exchange.hpp"

#include <gtest/gtest.h>

#include <random>

namespace critpath::test
{
namespace
{

using replayer::exchange;

struct Item {
    std::int32_t from;
    std::int32_t to;
    std::uint64_t number;
    char tail[3];
};

class Exchange : public testing::Test
{
protected:
    void SetUp() override
    {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }

    /// Every pair has a number of items that both sides can compute.
    static std::size_t count(int from, int to, unsigned seed)
    {
        std::mt19937 random(seed + 1000 * from + to);
        return random() % 3 == 0 ? 0 : random() % 2000;
    }

    void round(unsigned seed) const
    {
        std::vector<std::vector<Item>> to(size_);
        for (int p = 0; p < size_; ++p) {
            const std::size_t items = count(rank_, p, seed);
            for (std::uint64_t i = 0; i < items; ++i) {
                to[p].push_back({rank_, p, i, {}});
            }
        }
        const auto received = exchange(MPI_COMM_WORLD, to);
        ASSERT_EQ(received.begin.size(), size_ + 1);
        for (int p = 0; p < size_; ++p) {
            const auto items = received.from(p);
            ASSERT_EQ(items.size(), count(p, rank_, seed));
            for (std::size_t i = 0; i < items.size(); ++i) {
                ASSERT_EQ(items[i].from, p);
                ASSERT_EQ(items[i].to, rank_);
                ASSERT_EQ(items[i].number, i);
            }
        }
        ASSERT_EQ(received.begin.back(), received.items.size());
    }

    int rank_ = 0;
    int size_ = 1;
};

TEST_F(Exchange, ManyRoundsBackToBackDoNotMix)
{
    for (unsigned seed = 0; seed < 50; ++seed) {
        round(seed);
    }
}

TEST_F(Exchange, NothingAtAll)
{
    const auto received = exchange(MPI_COMM_WORLD, std::vector<std::vector<Item>>(size_));
    EXPECT_TRUE(received.items.empty());
}

TEST_F(Exchange, AllToOne)
{
    std::vector<std::vector<int>> to(size_);
    to[size_ - 1] = {rank_, -rank_};
    const auto received = exchange(MPI_COMM_WORLD, to);
    if (rank_ != size_ - 1) {
        EXPECT_TRUE(received.items.empty());
        return;
    }
    ASSERT_EQ(received.items.size(), 2 * size_);
    for (int p = 0; p < size_; ++p) {
        EXPECT_EQ(received.items[2 * p], p);
    }
}

TEST_F(Exchange, RoundsAreThoseOfTheBusiest)
{
    EXPECT_EQ(replayer::exchange_rounds(MPI_COMM_WORLD, 0, 10), 0);
    EXPECT_EQ(replayer::exchange_rounds(MPI_COMM_WORLD, rank_ == 0 ? 21 : 0, 10), 3);
    EXPECT_EQ(replayer::exchange_rounds(MPI_COMM_WORLD, 20, 10), 2);
}

TEST_F(Exchange, OneWithoutMemoryMeansThatAllThrow)
{
    using replayer::agree_on_memory;
    EXPECT_NO_THROW(agree_on_memory(MPI_COMM_WORLD, true));
    EXPECT_THROW(agree_on_memory(MPI_COMM_WORLD, rank_ != size_ - 1), std::bad_alloc);
}

}  // namespace
}  // namespace critpath::test

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    testing::InitGoogleTest(&argc, argv);
    const int failed = RUN_ALL_TESTS();
    MPI_Finalize();
    return failed;
}

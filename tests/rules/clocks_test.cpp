// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the error of clocks does to decisions (docs/ALGORITHM, "Clocks"). Times are in us.
#include "tests/builder/replayed.hpp"

#include <gtest/gtest.h>

namespace critpath::tests
{
namespace
{

// Ranks 1 and 2 came 10 us apart.
void three_in_a_barrier(Program& p)
{
    p[0].collective(FunctionId::MPI_Barrier, {10, 53});
    p[1].collective(FunctionId::MPI_Barrier, {50, 52});
    p[2].collective(FunctionId::MPI_Barrier, {40, 54});
    p.finish(80);
}

TEST(Clocks, OneClockIsSureOfItsOrder)
{
    Program p(3);
    p.clocks({0, 0, 0}, {});
    three_in_a_barrier(p);
    EXPECT_EQ(path(p), "compute 1: 0-50 | collective 1>2: 50-54 | compute 2: 54-80");
    EXPECT_EQ(replay(p).fact("clock_domains"), 1);
    EXPECT_EQ(replay(p).fact("clock_uncertainty_ns"), 0);
}

TEST(Clocks, LastArriversOfTwoClocksThatAreTooCloseAreUncertain)
{
    Program p(3);
    p.clocks({0, 1, 2}, {0, 5, 6});
    three_in_a_barrier(p);
    EXPECT_EQ(path(p), "compute 1: 0-50 | collective? 1>2: 50-54 | compute 2: 54-80");
    EXPECT_EQ(replay(p).fact("low_confidence_ns"), 4000);
    EXPECT_EQ(replay(p).fact("clock_domains"), 3);
    EXPECT_EQ(replay(p).fact("clock_uncertainty_ns"), 11'000);
}

TEST(Clocks, LastArriversThatAreFarEnoughApartAreCertain)
{
    Program p(3);
    p.clocks({0, 1, 2}, {0, 5, 5});
    three_in_a_barrier(p);
    EXPECT_EQ(path(p), "compute 1: 0-50 | collective 1>2: 50-54 | compute 2: 54-80");
}

// Rank 2 shares the clock of rank 1, so the next one by another clock is rank 0, 40 us before.
TEST(Clocks, RanksOfOneClockAreNotUncertainAgainstEachOther)
{
    Program p(3);
    p.clocks({0, 1, 1}, {0, 15});
    three_in_a_barrier(p);
    EXPECT_EQ(path(p), "compute 1: 0-50 | collective 1>2: 50-54 | compute 2: 54-80");
}

// Within the uncertainty a member may leave before the last one came.
TEST(Clocks, SynchronisationIsTestedWithTheUncertainty)
{
    Program p(2);
    p[0].collective(FunctionId::MPI_Allreduce, {10, 50});
    p[1].collective(FunctionId::MPI_Allreduce, {53, 56});
    p.finish(80);
    EXPECT_EQ(path(p), "compute 1: 0-53 | mpi 1: 53-56 | compute 1: 56-80");
    p.clocks({0, 1}, {0, 5});
    EXPECT_EQ(path(p), "compute 1: 0-53 | collective 1: 53-56 | compute 1: 56-80");
}

TEST(Clocks, MessageFromANearbyTimeOfAnotherClockIsUncertain)
{
    const auto message = [](Program& p) {
        p[0].send({20, 21}, 1);
        p[1].recv({10, 33}, 0);
        p.finish(80);
    };
    Program sure(2);
    sure.clocks({0, 1}, {0, 9});
    message(sure);
    EXPECT_EQ(path(sure), "compute 0: 0-20 | transfer 0>1: 20-33 | compute 1: 33-80");
    Program unsure(2);
    unsure.clocks({0, 1}, {0, 11});
    message(unsure);
    EXPECT_EQ(path(unsure), "compute 0: 0-20 | transfer? 0>1: 20-33 | compute 1: 33-80");
}

// The first message shows that a transfer takes 2 us, so the second was there 8 us before the receive, if clocks are
// right.
TEST(Clocks, AMessageThatMayHaveComeLaterIsNoDelay)
{
    const auto messages = [](Program& p) {
        p[0].send({20, 21}, 1);
        p[0].send({30, 31}, 1);
        p[1].recv({2, 22}, 0);
        p[1].recv({40, 70}, 0);
        p.finish(80);
    };
    Program sure(2);
    sure.clocks({0, 1}, {0, 7});
    messages(sure);
    EXPECT_NE(path(sure).find("delay? 1: 40-70"), std::string::npos) << path(sure);
    Program unsure(2);
    unsure.clocks({0, 1}, {0, 9});
    messages(unsure);
    EXPECT_NE(path(unsure).find("transfer? 0>1: 30-70"), std::string::npos) << path(unsure);
}

TEST(Clocks, OnlyWhatTheErrorDoesNotExplainRunsBackwards)
{
    const auto violations = [](std::int64_t uncertainty) {
        Program p(2);
        p.clocks({0, 1}, {0, uncertainty});
        p[0].send({20, 21}, 1);
        p[1].recv({10, 15}, 0);
        p.finish(80);
        return replay(p).fact("clock_violations");
    };
    EXPECT_EQ(violations(4), 1);
    EXPECT_EQ(violations(5), 0);
}

}  // namespace
}  // namespace critpath::tests

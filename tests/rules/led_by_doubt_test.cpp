// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How much of the path doubtful decisions decide about (docs/ALGORITHM, "Uncertainty"). Times are in us.
#include "tests/builder/replayed.hpp"

#include <gtest/gtest.h>

namespace critpath::tests
{
namespace
{

/// A loop of polls that lacks a processor for a while and finds the message when it comes back, which is a guess.
void doubtful_wait(Program& p, int from, int rank)
{
    p[from].send({150, 151}, rank);
    const Request r = p[rank].irecv({61, 62}, from);
    p[rank].call(FunctionId::MPI_Test, {70, 120});
    p[rank].test({155, 156}, r);
}

TEST(LedByDoubt, ADoubtfulJumpDecidesAboutAllBeforeIt)
{
    Program p(2);
    doubtful_wait(p, 0, 1);
    p.finish(200);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 0: 0-150 | transfer? 0>1: 150-156 | compute 1: 156-200");
    EXPECT_EQ(r.fact("low_confidence_ns"), 6'000);
    EXPECT_EQ(r.fact("led_by_doubt_ns"), 156'000);
}

/// The path would be there whatever is decided behind it.
TEST(LedByDoubt, ADecisionBeforeItIsTheEndOfThat)
{
    Program p(3);
    p[2].send({40, 41}, 0);
    p[0].recv({10, 44}, 2);
    doubtful_wait(p, 0, 1);
    p[0].finish(190);
    p[1].finish(200);
    p[2].finish(190);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 2: 0-40 | transfer 2>0: 40-44 | compute 0: 44-150 | transfer? 0>1: 150-156 | "
                        "compute 1: 156-200");
    EXPECT_EQ(r.fact("low_confidence_ns"), 6'000);
    EXPECT_EQ(r.fact("led_by_doubt_ns"), 112'000);
}

/// As far as that is from the last decision: the path goes to rank 2 for sure, and from there to rank 0.
TEST(LedByDoubt, ADecisionBehindItDecidesAboutTheRest)
{
    Program p(3);
    doubtful_wait(p, 0, 1);
    p[1].send({180, 181}, 2);
    p[2].recv({20, 184}, 1);
    p.finish(200);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 0: 0-150 | transfer? 0>1: 150-156 | compute 1: 156-180 | transfer 1>2: 180-184 | "
                        "compute 2: 184-200");
    EXPECT_EQ(r.fact("led_by_doubt_ns"), 156'000);
}

TEST(LedByDoubt, SureDecisionsLeaveNothing)
{
    Program p(2);
    p[0].send({40, 41}, 1);
    p[1].recv({10, 44}, 0);
    p.finish(100);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 0: 0-40 | transfer 0>1: 40-44 | compute 1: 44-100");
    EXPECT_EQ(r.fact("led_by_doubt_ns"), 0);
}

/// Ranks 1 and 2 come within the error of their clocks.
TEST(LedByDoubt, AnErrorOfClocksIsADoubt)
{
    Program p(3);
    p.clocks({0, 1, 2}, {0, 5, 6});
    p[0].collective(FunctionId::MPI_Barrier, {10, 53});
    p[1].collective(FunctionId::MPI_Barrier, {50, 52});
    p[2].collective(FunctionId::MPI_Barrier, {40, 54});
    p.finish(80);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 1: 0-50 | collective? 1>2: 50-54 | compute 2: 54-80");
    EXPECT_EQ(r.fact("led_by_doubt_ns"), 54'000);
}

/// A jump of 4 us that may be 10 us longer decides. If it is wrong, what is before it could have been so much longer
/// without harm: of 50 times as much, that is too little to look elsewhere.
TEST(LedByDoubt, WhatIsCriticalInAnyCaseIsNotInDoubt)
{
    for (const int last : {690, 710}) {
        Program p(3);
        p.clocks({0, 1, 2}, {0, 5, 5});
        p[0].collective(FunctionId::MPI_Barrier, {10, last + 3});
        p[1].collective(FunctionId::MPI_Barrier, {last, last + 2});
        p[2].collective(FunctionId::MPI_Barrier, {last - 5, last + 4});
        p.finish(800);
        EXPECT_EQ(replay(p).fact("led_by_doubt_ns"), last == 690 ? 694'000 : 4'000);
    }
}

/// But if a poll waited for nothing, nothing depends on what it found, however soon it found that.
TEST(LedByDoubt, ADoubtfulPollDecidesAboutAllBeforeIt)
{
    Program p(2);
    p[0].send({990, 991}, 1);
    const Request r = p[1].irecv({2, 3}, 0);
    p[1].call(FunctionId::MPI_Test, {100, 600});
    p[1].test({993, 994}, r);
    p.finish(1200);
    const Replayed replayed = replay(p);
    EXPECT_EQ(replayed.path(), "compute 0: 0-990 | transfer? 0>1: 990-994 | compute 1: 994-1200");
    EXPECT_EQ(replayed.fact("led_by_doubt_ns"), 994'000);
}

}  // namespace
}  // namespace critpath::tests

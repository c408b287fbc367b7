// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How much of the path doubtful decisions decide about (docs/ALGORITHM, "Uncertainty"). Times are in us.
#include "tests/builder/replayed.hpp"

#include <gtest/gtest.h>

#include <string>

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

/// Of 99 us on rank 0, a jump of 1 or 3 us decides. If it is wrong, the path could have been on rank 1, with a wait of
/// as much at the most; the shorter one has it right to within 2 %.
TEST(LedByDoubt, WhatIsCriticalInAnyCaseIsNotInDoubt)
{
    for (const int length : {1, 3}) {
        Program p(2);
        p[0].send({99, 100}, 1);
        const Request r = p[1].irecv({2, 3}, 0);
        p[1].call(FunctionId::MPI_Test, {10, 60});
        p[1].test({99 + length - 1, 99 + length}, r);
        p.finish(200);
        const Replayed replayed = replay(p);
        EXPECT_EQ(replayed.path(), "compute 0: 0-99 | transfer? 0>1: 99-" + std::to_string(99 + length) +
                                       " | compute 1: " + std::to_string(99 + length) + "-200");
        EXPECT_EQ(replayed.fact("led_by_doubt_ns"), length == 1 ? 1'000 : 102'000);
    }
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

/// By which a jump may be longer than it seems: this one is 4 us long, which is little for 350 us, and 10 us wrong.
TEST(LedByDoubt, TheErrorOfClocksIsNotCriticalInAnyCase)
{
    Program p(3);
    p.clocks({0, 1, 2}, {0, 5, 5});
    p[0].collective(FunctionId::MPI_Barrier, {10, 353});
    p[1].collective(FunctionId::MPI_Barrier, {350, 352});
    p[2].collective(FunctionId::MPI_Barrier, {345, 354});
    p.finish(400);
    EXPECT_EQ(replay(p).fact("led_by_doubt_ns"), 354'000);
}

}  // namespace
}  // namespace critpath::tests

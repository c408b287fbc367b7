// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/builder/replayed.hpp"

#include <gtest/gtest.h>

namespace critpath::tests
{
namespace
{

TEST(CommonPoint, OfACompleteRecordingIsNowhere)
{
    Program p(2);
    p[0].send({10, 11}, 1);
    p[1].recv({5, 12}, 0);
    p.finish(20);
    EXPECT_FALSE(replay(p).profile.facts.contains("incomplete"));
}

TEST(CommonPoint, IsTheLastSignOfLifeOfARankThatWasComputing)
{
    Program p(2);
    p[0].send({10, 11}, 1);
    p[0].die_in(FunctionId::MPI_Recv, 20);
    p[1].recv({5, 12}, 0);
    p[1].die(50);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 0: 0-10 | transfer 0>1: 10-12 | compute 1: 12-50");
    EXPECT_EQ(r.fact("incomplete"), 1);
    EXPECT_EQ(r.fact("cut_calls"), 0);
    EXPECT_EQ(r.profile.properties.at("incomplete"), "cut short");
}

TEST(CommonPoint, WhatOthersDidLaterIsLeftOut)
{
    Program p(2);
    p[0].call(FunctionId::MPI_Isend, {10, 11});
    p[0].sample(30, "early");
    p[0].send({60, 61}, 1);
    p[0].sample(70, "late");
    p[0].finish(100);
    p[1].die(50);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 1: 0-50");
    EXPECT_EQ(r.fact("makespan_ns"), 50'000);
    EXPECT_EQ(r.fact("cut_calls"), 2);
    EXPECT_EQ(r.fact("calls"), 1);
    EXPECT_EQ(r.fact("samples"), 1);
    EXPECT_EQ(r.fact("unmatched_sends"), 0);
    EXPECT_EQ(r.fact("under_way"), 0);
}

TEST(CommonPoint, CountsOfSamplesBehindItAreNobodys)
{
    Program p(2);
    p[1].call(FunctionId::MPI_Isend, {1, 2});
    p[1].sample(20, "early");
    p[1].counts(100);
    p[1].off({30, 34}, false);  // divides what is behind the last sample
    p[1].off({38, 40}, false);
    p[1].sample(70, "late");
    p[1].counts(5'000);
    p[1].finish(100);
    p[0].die(50);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 1: 0-1 | mpi 1: 1-2 | compute 1: 2-50");
    std::int64_t instructions = 0;
    for (const model::EventCount& event : r.profile.path_events)
        instructions += event.count;
    EXPECT_EQ(instructions, 100);
}

// The one that came last kept the others waiting; nobody knows what it waited for.
TEST(CommonPoint, WhereAllWereInCallsIsTheLastEnter)
{
    Program p(3);
    p[0].die_in(FunctionId::MPI_Barrier, 30);
    p[1].die_in(FunctionId::MPI_Barrier, 40);
    p[2].die_in(FunctionId::MPI_Barrier, 20);
    EXPECT_EQ(path(p), "compute 1: 0-40");
}

TEST(CommonPoint, ACallAcrossItHasNoOutcome)
{
    Program p(3);
    p[0].send({55, 56}, 1);
    p[0].finish(100);
    p[1].recv({45, 60}, 0);
    p[1].finish(100);
    p[2].die(50);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 2: 0-50");
    EXPECT_EQ(r.fact("unmatched_receives"), 0);
    EXPECT_EQ(r.fact("under_way"), 1);
    EXPECT_EQ(r.profile.processes.size(), 3U);
}

// A receive that was posted before the point is matched in its order although it was completed behind it.
TEST(CommonPoint, OrderOnAChannelIsThatOfTheWholeRecording)
{
    Program p(3);
    p[0].send({10, 11}, 1);
    p[0].send({30, 31}, 1);
    p[0].finish(100);
    const Request first = p[1].irecv({5, 6}, 0);
    const Request second = p[1].irecv({7, 8}, 0);
    p[1].wait({9, 33}, second);
    p[1].wait({70, 71}, first);
    p[1].finish(100);
    p[2].die(34);
    const Replayed r = replay(p);
    EXPECT_EQ(r.fact("messages"), 2);
    EXPECT_EQ(r.fact("under_way"), 0);
}

TEST(CommonPoint, OfARecordingThatRanOutOfRoomIsItsLastCall)
{
    Program p(2);
    p[0].finish(100);
    p[1].call(FunctionId::MPI_Isend, {20, 30});
    p[1].run_out_of_room();
    p[1].sample(80, "later");
    const Replayed r = replay(p);
    EXPECT_EQ(r.fact("makespan_ns"), 30'000);
    EXPECT_EQ(r.fact("samples"), 0);
}

TEST(CommonPoint, IsNotMovedByARankWithoutRecords)
{
    Program p(3);
    p[0].die_in(FunctionId::MPI_Barrier, 40);
    p[2].die(60);
    EXPECT_EQ(path(p), "compute 2: 0-60");
}

}  // namespace
}  // namespace critpath::tests

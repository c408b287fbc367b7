// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One test a row of the table of collective classes (docs/ALGORITHM, "Collectives"). Times are in us. Calls up to 5 us
// never count as having waited, and the release rule begins 20 us above the cost of a call.
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace critpath::tests
{
namespace
{

using replayer::Rules;

TEST(Collectives, AllToAllWaitsForTheLastArriver)
{
    for (const FunctionId f : {FunctionId::MPI_Barrier, FunctionId::MPI_Allreduce, FunctionId::MPI_Alltoall,
                               FunctionId::MPI_Allgatherv, FunctionId::MPI_Reduce_scatter, FunctionId::MPI_Comm_dup}) {
        Program p(3);
        p[0].collective(f, {10, 53});
        p[1].collective(f, {50, 52});
        p[2].collective(f, {30, 54});
        p.finish(80);
        EXPECT_EQ(path(p), "compute 1: 0-50 | collective 1>2: 50-54 | compute 2: 54-80") << functions::info(f).name;
    }
}

// The last arriver's own time in the call is the completion of the collective, not work of its own.
TEST(Collectives, LastArriverCompletesTheCollective)
{
    Program p(2);
    p[0].collective(FunctionId::MPI_Allreduce, {10, 53});
    p[1].collective(FunctionId::MPI_Allreduce, {50, 55});
    p.finish(80);
    EXPECT_EQ(path(p), "compute 1: 0-50 | collective 1: 50-55 | compute 1: 55-80");
}

TEST(Collectives, TiesGoToTheLargerRankForEverybody)
{
    Program p(4);
    for (int r = 0; r < 4; ++r)
        p[r].collective(FunctionId::MPI_Allreduce, {r == 0 ? 10 : 50, 55});
    p[0].finish(90);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 3: 0-50 | collective 3>0: 50-55 | compute 0: 55-90");
}

TEST(Collectives, AllToAllThatDidNotSynchroniseFallsBackToTheReleaseRule)
{
    Program p(3);  // rank 0 left before rank 2 came; rank 1 was long inside and left when rank 2 had come
    p[0].collective(FunctionId::MPI_Alltoallv, {10, 13});
    p[1].collective(FunctionId::MPI_Alltoallv, {12, 72});
    p[2].collective(FunctionId::MPI_Alltoallv, {70, 73});
    p[1].finish(90);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 2: 0-70 | collective? 2>1: 70-72 | compute 1: 72-90");
}

TEST(Collectives, RotatingSlowRankBeforeEachAllreduce)
{
    Program p(3);
    p[0].collective(FunctionId::MPI_Allreduce, {100, 102});
    p[1].collective(FunctionId::MPI_Allreduce, {10, 102});
    p[2].collective(FunctionId::MPI_Allreduce, {10, 102});
    p[0].collective(FunctionId::MPI_Allreduce, {112, 204});
    p[1].collective(FunctionId::MPI_Allreduce, {202, 204});
    p[2].collective(FunctionId::MPI_Allreduce, {112, 204});
    p[0].collective(FunctionId::MPI_Allreduce, {214, 306});
    p[1].collective(FunctionId::MPI_Allreduce, {214, 306});
    p[2].collective(FunctionId::MPI_Allreduce, {304, 306});
    p.finish(306);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 0: 0-100 | collective 0>1: 100-102 | compute 1: 102-202 | collective 1>2: 202-204 | "
                        "compute 2: 204-304 | collective 2: 304-306");
    EXPECT_EQ(r.path_us("[compute]"), 300);
    EXPECT_EQ(r.path_us("MPI_Allreduce"), 6);
    EXPECT_EQ(r.fact("collectives"), 3);
}

TEST(Collectives, BcastWithALateRootWaitsForTheRoot)
{
    Program p(3);
    p[0].rooted(FunctionId::MPI_Bcast, {50, 51}, 0);
    p[1].rooted(FunctionId::MPI_Bcast, {10, 53}, 0);
    p[2].rooted(FunctionId::MPI_Bcast, {60, 61}, 0);  // later than the root: it finds the data there
    p[1].finish(90);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 0: 0-50 | collective 0>1: 50-53 | compute 1: 53-90");
    EXPECT_EQ(path(p, Rules::Enter), "compute 1: 0-10 | mpi 1: 10-53 | compute 1: 53-90");  // 2 came after it left
    Program q(3);
    q[0].rooted(FunctionId::MPI_Bcast, {50, 51}, 0);
    q[1].rooted(FunctionId::MPI_Bcast, {10, 53}, 0);
    q[2].rooted(FunctionId::MPI_Bcast, {60, 61}, 0);
    q.finish(80);
    EXPECT_EQ(path(q), "compute 2: 0-60 | mpi 2: 60-61 | compute 2: 61-80");
}

TEST(Collectives, WhoHasNoProcessorToLeaveABcastWaitsForItsRoot)
{
    for (const bool lacks : {true, false}) {
        Program p(2);
        for (int t = 0; t < 40; t += 4) {  // takes 2 us
            p[0].rooted(FunctionId::MPI_Bcast, {t + 1, t + 2}, 0);
            p[1].rooted(FunctionId::MPI_Bcast, {t, t + 3}, 0);
        }
        p[0].rooted(FunctionId::MPI_Bcast, {500, 501}, 0);
        p[1].rooted(FunctionId::MPI_Bcast, {50, 3000}, 0);
        if (lacks)
            p[1].off({100, 2996}, true);
        p[0].finish(3005);
        p[1].finish(3010);
        EXPECT_THAT(path(p),
                    testing::EndsWith(lacks ? "compute 0: 38-500 | collective 0>1: 500-3000 | compute 1: 3000-3010"
                                            : "compute 0: 38-500 | collective? 0>1: 500-3000 | compute 1: 3000-3010"));
    }
}

TEST(Collectives, BcastWithAnEarlyRootWaitsForNobody)
{
    Program p(3);
    p[0].rooted(FunctionId::MPI_Bcast, {10, 11}, 0);
    p[1].rooted(FunctionId::MPI_Bcast, {50, 52}, 0);
    p[2].rooted(FunctionId::MPI_Bcast, {70, 72}, 0);
    p[0].finish(100);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 0: 0-10 | mpi 0: 10-11 | compute 0: 11-100");
}

// A large broadcast blocks its root until the last interior member of the tree is there: not in the semantics, but in
// the times.
TEST(Collectives, BlockedRootOfALargeBcastIsReleasedByTheLateMember)
{
    Program p(3);
    p[0].rooted(FunctionId::MPI_Bcast, {10, 160}, 0);
    p[1].rooted(FunctionId::MPI_Bcast, {12, 162}, 0);
    p[2].rooted(FunctionId::MPI_Bcast, {150, 163}, 0);
    p[0].finish(200);
    p.finish(180);
    EXPECT_EQ(path(p), "compute 2: 0-150 | collective? 2>0: 150-160 | compute 0: 160-200");
}

// Rank 2 is behind rank 1 in the chain of a small broadcast and gets the data late, as it happens with few cores.
TEST(Collectives, MemberBehindALateInteriorMemberIsReleasedByIt)
{
    Program p(3);  // the root comes first
    p[0].rooted(FunctionId::MPI_Bcast, {10, 12}, 0);
    p[1].rooted(FunctionId::MPI_Bcast, {9000, 9400}, 0);
    p[2].rooted(FunctionId::MPI_Bcast, {100, 10000}, 0);
    p.finish(10100);
    EXPECT_EQ(path(p), "compute 1: 0-9000 | collective? 1>2: 9000-10000 | compute 2: 10000-10100");
    Program q(3);  // the root comes after rank 2, but explains only the beginning; that is no example of a completion
    q[0].rooted(FunctionId::MPI_Bcast, {200, 202}, 0);
    q[1].rooted(FunctionId::MPI_Bcast, {9000, 9400}, 0);
    q[2].rooted(FunctionId::MPI_Bcast, {100, 10000}, 0);
    q.finish(10100);
    EXPECT_EQ(path(q), "compute 1: 0-9000 | collective? 1>2: 9000-10000 | compute 2: 10000-10100");
}

// Somebody is always the latest: that alone does not take the blame from a late root.
TEST(Collectives, DenseArrivalsDoNotTakeTheBlameFromALateRoot)
{
    Program p(6);
    p[0].rooted(FunctionId::MPI_Bcast, {9000, 9002}, 0);
    p[1].rooted(FunctionId::MPI_Bcast, {100, 10000}, 0);
    for (int r = 2; r < 6; ++r)  // 9150 .. 9900
        p[r].rooted(FunctionId::MPI_Bcast, {8650 + 250 * r, 8652 + 250 * r}, 0);
    p[1].finish(10100);
    p.finish(10050);
    EXPECT_EQ(path(p), "compute 0: 0-9000 | collective? 0>1: 9000-10000 | compute 1: 10000-10100");
    Program q(3);  // nor does one that leaves most of the time unexplained
    q[0].rooted(FunctionId::MPI_Bcast, {9000, 9002}, 0);
    q[1].rooted(FunctionId::MPI_Bcast, {100, 10000}, 0);
    q[2].rooted(FunctionId::MPI_Bcast, {9500, 9502}, 0);
    q[1].finish(10100);
    q.finish(10050);
    EXPECT_EQ(path(q), "compute 0: 0-9000 | collective? 0>1: 9000-10000 | compute 1: 10000-10100");
}

TEST(Collectives, ReduceWithALateLeaf)
{
    Program p(3);
    p[0].rooted(FunctionId::MPI_Reduce, {10, 54}, 0);
    p[1].rooted(FunctionId::MPI_Reduce, {20, 21}, 0);
    p[2].rooted(FunctionId::MPI_Reduce, {50, 51}, 0);
    p[0].finish(90);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 2: 0-50 | collective 2>0: 50-54 | compute 0: 54-90");
}

// Enough for all that the root has to do by itself, and more: it was on its way from who came at the same moment.
TEST(Collectives, ReduceWithALeafAndARootThatComeAtOnce)
{
    Program p(3);
    p[0].rooted(FunctionId::MPI_Reduce, {50, 94}, 0);
    p[1].rooted(FunctionId::MPI_Reduce, {20, 21}, 0);
    p[2].rooted(FunctionId::MPI_Reduce, {50, 51}, 0);
    p[0].finish(130);
    p.finish(120);
    EXPECT_EQ(path(p), "compute 2: 0-50 | collective 2>0: 50-94 | compute 0: 94-130");
}

TEST(Collectives, ReduceWithALateRootWaitsForNobody)
{
    Program p(3);
    p[0].rooted(FunctionId::MPI_Gather, {60, 63}, 0);
    p[1].rooted(FunctionId::MPI_Gather, {20, 21}, 0);
    p[2].rooted(FunctionId::MPI_Gather, {50, 51}, 0);
    p[0].finish(90);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 0: 0-60 | mpi 0: 60-63 | compute 0: 63-90");
}

// An interior member of a reduction tree waits for its child (M2).
TEST(Collectives, InteriorMemberOfAReductionIsReleasedByItsChild)
{
    Program p(4);
    p[0].rooted(FunctionId::MPI_Reduce, {10, 16}, 0);
    p[1].rooted(FunctionId::MPI_Reduce, {12, 82}, 0);
    p[2].rooted(FunctionId::MPI_Reduce, {14, 15}, 0);
    p[3].rooted(FunctionId::MPI_Reduce, {80, 81}, 0);
    p[1].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 3: 0-80 | collective? 3>1: 80-82 | compute 1: 82-120");
}

TEST(Collectives, ScanWaitsForTheMembersBeforeIt)
{
    Program p(4);
    p[0].collective(FunctionId::MPI_Scan, {10, 11});
    p[1].collective(FunctionId::MPI_Scan, {50, 51});
    p[2].collective(FunctionId::MPI_Scan, {20, 53});
    p[3].collective(FunctionId::MPI_Scan, {70, 71});
    p[2].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 1: 0-50 | collective 1>2: 50-53 | compute 2: 53-120");
    Program q(3);
    q[0].collective(FunctionId::MPI_Exscan, {50, 51});
    q[1].collective(FunctionId::MPI_Exscan, {10, 53});
    q[2].collective(FunctionId::MPI_Exscan, {52, 54});
    q[1].finish(120);
    q.finish(100);
    EXPECT_EQ(path(q), "compute 0: 0-50 | collective 0>1: 50-53 | compute 1: 53-120");
}

// What was 12 us under way holds up who came 8 us later: with nothing of its own in the result, it is no last one.
TEST(Collectives, WhatIsOnItsWayHoldsUpAnExclusivePrefix)
{
    Program p(2);
    p[0].collective(FunctionId::MPI_Exscan, {10, 11});
    p[1].collective(FunctionId::MPI_Exscan, {5, 22});
    p[0].collective(FunctionId::MPI_Exscan, {50, 51});
    p[1].collective(FunctionId::MPI_Exscan, {58, 62});
    p[1].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 0: 0-10 | mpi 0: 10-11 | compute 0: 11-50 | collective 0>1: 50-62 | compute 1: 62-120");
}

// The topology of a neighbourhood is not in the trace, so only the release rule is left.
TEST(Collectives, NeighbourhoodFollowsTheReleaseRule)
{
    Program p(3);
    p[0].collective(FunctionId::MPI_Neighbor_allgather, {10, 62});
    p[1].collective(FunctionId::MPI_Neighbor_allgather, {60, 61});
    p[2].collective(FunctionId::MPI_Neighbor_allgather, {20, 21});
    p[0].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 1: 0-60 | collective? 1>0: 60-62 | compute 0: 62-120");
}

TEST(Collectives, CommFreeWaitsOnlyIfTheTimesSaySo)
{
    Program p(2);
    p[0].collective(FunctionId::MPI_Comm_free, {10, 12});
    p[1].collective(FunctionId::MPI_Comm_free, {60, 62});
    p[0].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 0: 0-10 | mpi 0: 10-12 | compute 0: 12-120");
    Program q(2);
    q[0].collective(FunctionId::MPI_Comm_free, {10, 63});
    q[1].collective(FunctionId::MPI_Comm_free, {60, 62});
    q[0].finish(120);
    q.finish(100);
    EXPECT_EQ(path(q), "compute 1: 0-60 | collective? 1>0: 60-63 | compute 0: 63-120");
}

TEST(Collectives, InitSynchronisesIfTheTimesSaySo)
{
    Program p(2);
    p[0].collective(FunctionId::MPI_Init, {10, 100}, 0);
    p[1].collective(FunctionId::MPI_Init, {60, 101}, 0);
    p[0].finish(190);
    p.finish(180);
    EXPECT_EQ(path(p), "compute 1: 0-60 | collective 1>0: 60-100 | compute 0: 100-190");
    Program q(2);  // rank 0 was through before rank 1 came
    q[0].collective(FunctionId::MPI_Init, {10, 50}, 0);
    q[1].collective(FunctionId::MPI_Init, {60, 101}, 0);
    q.finish(180);
    EXPECT_EQ(path(q), "compute 1: 0-60 | mpi 1: 60-101 | compute 1: 101-180");
}

TEST(Collectives, OpeningAFileWaitsForTheLastArriver)
{
    Program p(2);
    p[0].collective(FunctionId::MPI_File_open, {10, 100});
    p[1].collective(FunctionId::MPI_File_open, {60, 101});
    p[0].finish(190);
    p.finish(180);
    EXPECT_EQ(path(p), "compute 1: 0-60 | collective 1>0: 60-100 | compute 0: 100-190");
}

TEST(Collectives, FilesAreWrittenTogetherIfTheTimesSaySo)
{
    Program p(2);
    p[0].collective(FunctionId::MPI_File_write_all, {10, 100});
    p[1].collective(FunctionId::MPI_File_write_all, {60, 101});
    p[0].finish(190);
    p.finish(180);
    EXPECT_EQ(path(p), "compute 1: 0-60 | collective 1>0: 60-100 | compute 0: 100-190");
    Program q(2);  // each its own part, and rank 0 was through before rank 1 came
    q[0].collective(FunctionId::MPI_File_write_all, {10, 50});
    q[1].collective(FunctionId::MPI_File_write_all, {60, 101});
    q[1].finish(190);
    q.finish(180);
    EXPECT_EQ(path(q), "compute 1: 0-60 | mpi 1: 60-101 | compute 1: 101-190");
    Program r(2);  // or in the moment in which that came
    r[0].collective(FunctionId::MPI_File_write_all, {10, 60});
    r[1].collective(FunctionId::MPI_File_write_all, {60, 101});
    r[0].finish(190);
    r.finish(180);
    EXPECT_EQ(path(r), "compute 0: 0-10 | mpi 0: 10-60 | compute 0: 60-190");
}

// Who comes before all have left was waited for, however long the file system takes after that; unless somebody had
// left before.
TEST(Collectives, AFileIsClosedTogetherIfTheTimesSaySo)
{
    for (const std::int64_t longer : {0, 30}) {
        Program p(3);
        p[0].collective(FunctionId::MPI_File_close, {10, 63 + longer});
        p[1].collective(FunctionId::MPI_File_close, {60, 62 + longer});
        p[2].collective(FunctionId::MPI_File_close, {5, 64 + longer});
        p[0].finish(120);
        p.finish(100);
        const std::string end = std::to_string(63 + longer);
        EXPECT_EQ(path(p), "compute 1: 0-60 | collective 1>0: 60-" + end + " | compute 0: " + end + "-120");
    }
    Program q(3);
    q[0].collective(FunctionId::MPI_File_close, {10, 63});
    q[1].collective(FunctionId::MPI_File_close, {60, 62});
    q[2].collective(FunctionId::MPI_File_close, {5, 8});
    q[0].finish(120);
    q.finish(100);
    EXPECT_EQ(path(q), "compute 0: 0-10 | mpi 0: 10-63 | compute 0: 63-120");
}

TEST(Collectives, OrderedWritesWaitForTheRanksBefore)
{
    Program p(3);
    p[0].collective(FunctionId::MPI_File_write_ordered, {100, 110});
    p[1].collective(FunctionId::MPI_File_write_ordered, {20, 120});
    p[2].collective(FunctionId::MPI_File_write_ordered, {150, 160});
    p[1].finish(300);
    p.finish(200);
    EXPECT_EQ(path(p), "compute 0: 0-100 | collective 0>1: 100-120 | compute 1: 120-300");
}

// What a rank writes by itself afterwards is no wait: how much of it is one, nobody can tell.
TEST(Collectives, LongOrderedWritesAreDoubtful)
{
    Program p(3);
    p[0].collective(FunctionId::MPI_File_write_ordered, {100, 5000});
    p[1].collective(FunctionId::MPI_File_write_ordered, {20, 10'000});
    p[2].collective(FunctionId::MPI_File_write_ordered, {6000, 10'010});
    p[1].finish(10'100);
    p.finish(10'050);
    EXPECT_EQ(path(p), "compute 0: 0-100 | collective? 0>1: 100-10000 | compute 1: 10000-10100");
}

// Both halves of a split operation may be the whole of it; what is between them has its turn on the communicator.
TEST(Collectives, SplitWritesWaitWhereTheTimesSaySo)
{
    const auto write = [](Span begin0, Span end0, Span begin1, Span end1) {
        Program p(2);
        const Request of0 = p[0].split_begin(FunctionId::MPI_File_write_all_begin, begin0);
        const Request of1 = p[1].split_begin(FunctionId::MPI_File_write_all_begin, begin1);
        p[0].collective(FunctionId::MPI_Barrier, {200, 203});
        p[1].collective(FunctionId::MPI_Barrier, {190, 203});
        p[0].split_end(FunctionId::MPI_File_write_all_end, end0, of0);
        p[1].split_end(FunctionId::MPI_File_write_all_end, end1, of1);
        p[0].finish(400);
        p.finish(390);
        const Replayed r = replay(p);
        EXPECT_EQ(r.fact("collectives"), 3);
        EXPECT_EQ(r.fact("incomplete_collectives"), 0);
        EXPECT_EQ(r.fact("mismatched_collectives"), 0);
        return r.path();
    };
    EXPECT_EQ(write({10, 100}, {210, 212}, {60, 101}, {220, 222}),
              "compute 1: 0-60 | collective 1>0: 60-100 | compute 0: 100-200 | collective 0: 200-203 | "
              "compute 0: 203-210 | mpi 0: 210-212 | compute 0: 212-400");
    EXPECT_EQ(write({10, 12}, {210, 300}, {60, 62}, {260, 301}),
              "compute 0: 0-10 | mpi 0: 10-12 | compute 0: 12-200 | collective 0>1: 200-203 | compute 1: 203-260 | "
              "collective 1>0: 260-300 | compute 0: 300-400");
}

TEST(Collectives, SplitOrderedWritesWaitForTheRanksBefore)
{
    Program p(3);
    const Request of0 = p[0].split_begin(FunctionId::MPI_File_write_ordered_begin, {100, 110});
    const Request of1 = p[1].split_begin(FunctionId::MPI_File_write_ordered_begin, {20, 120});
    const Request of2 = p[2].split_begin(FunctionId::MPI_File_write_ordered_begin, {150, 160});
    p[0].split_end(FunctionId::MPI_File_write_ordered_end, {170, 172}, of0);
    p[1].split_end(FunctionId::MPI_File_write_ordered_end, {180, 182}, of1);
    p[2].split_end(FunctionId::MPI_File_write_ordered_end, {190, 192}, of2);
    p[1].finish(300);
    p.finish(200);
    EXPECT_EQ(path(p), "compute 0: 0-100 | collective 0>1: 100-120 | compute 1: 120-180 | mpi 1: 180-182 | "
                       "compute 1: 182-300");
}

// Each end has the number of its beginning, whoever's end was not recorded.
TEST(Collectives, EndsOfSplitWritesAreNumberedByTheirBeginnings)
{
    Program p(2);
    const Request lost = p[0].split_begin(FunctionId::MPI_File_write_all_begin, {10, 12});
    p[0].split_end(FunctionId::MPI_File_write_all_end, {20, 22}, lost);
    p[1].split_begin(FunctionId::MPI_File_write_all_begin, {14, 16});
    const Request of0 = p[0].split_begin(FunctionId::MPI_File_write_all_begin, {30, 32});
    const Request of1 = p[1].split_begin(FunctionId::MPI_File_write_all_begin, {50, 52});
    p[0].split_end(FunctionId::MPI_File_write_all_end, {60, 153}, of0);
    p[1].split_end(FunctionId::MPI_File_write_all_end, {150, 152}, of1);
    p[0].finish(190);
    p.finish(180);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 1: 0-14 | mpi 1: 14-16 | compute 1: 16-50 | mpi 1: 50-52 | compute 1: 52-150 | "
                        "collective 1>0: 150-153 | compute 0: 153-190");
    EXPECT_EQ(r.fact("collectives"), 4);
    EXPECT_EQ(r.fact("incomplete_collectives"), 1);
}

TEST(Collectives, SpawningIsCollectiveAmongTheParents)
{
    Program p(2);
    p[0].collective(FunctionId::MPI_Comm_spawn, {10, 900});
    p[1].collective(FunctionId::MPI_Comm_spawn, {60, 901});
    p[0].finish(1000);
    p.finish(990);
    EXPECT_EQ(path(p), "compute 1: 0-60 | collective 1>0: 60-900 | compute 0: 900-1000");
}

TEST(Collectives, SubCommunicatorsAreIndependent)
{
    Program p(4);
    const auto even = p.comm({0, 2});
    const auto odd = p.comm({1, 3});
    p[0].collective(FunctionId::MPI_Barrier, {50, 52}, even);
    p[2].collective(FunctionId::MPI_Barrier, {10, 52}, even);
    p[1].collective(FunctionId::MPI_Barrier, {10, 72}, odd);
    p[3].collective(FunctionId::MPI_Barrier, {70, 72}, odd);
    p[2].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 0: 0-50 | collective 0>2: 50-52 | compute 2: 52-120");
}

// In a reversed communicator, the prefix of rank 0 is that of process 2.
TEST(Collectives, RanksAreThoseOfTheCommunicator)
{
    Program p(3);
    const auto reversed = p.comm({2, 1, 0});
    p[2].collective(FunctionId::MPI_Scan, {50, 51}, reversed);
    p[1].collective(FunctionId::MPI_Scan, {10, 53}, reversed);
    p[0].collective(FunctionId::MPI_Scan, {12, 55}, reversed);
    p[0].collective(FunctionId::MPI_Bcast, {60, 93}, reversed, 0);
    p[1].collective(FunctionId::MPI_Bcast, {60, 94}, reversed, 0);
    p[2].collective(FunctionId::MPI_Bcast, {90, 91}, reversed, 0);
    p[1].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 2: 0-50 | mpi 2: 50-51 | compute 2: 51-90 | collective 2>1: 90-94 | compute 1: 94-120");
}

TEST(Collectives, InterCommunicatorBarrierWaitsForTheOtherSide)
{
    Program p(4);
    const auto inter = p.intercomm({0, 1}, {2, 3});
    p[0].collective(FunctionId::MPI_Barrier, {70, 72}, inter);  // the last of all, but of the same side as 1
    p[1].collective(FunctionId::MPI_Barrier, {10, 53}, inter);
    p[2].collective(FunctionId::MPI_Barrier, {50, 71}, inter);
    p[3].collective(FunctionId::MPI_Barrier, {20, 71}, inter);
    p[1].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 2: 0-50 | collective 2>1: 50-53 | compute 1: 53-120");
}

// The standard does not oblige them to, but implementations gather each group by itself.
TEST(Collectives, InterCommunicatorOperationsMayWaitForTheOwnGroup)
{
    constexpr int this_group = -3;
    Program p(4);
    const auto inter = p.intercomm({0, 1}, {2, 3});
    p[0].collective(FunctionId::MPI_Barrier, {300, 303}, inter);
    p[1].collective(FunctionId::MPI_Barrier, {10, 304}, inter);
    p[2].collective(FunctionId::MPI_Barrier, {50, 303}, inter);
    p[3].collective(FunctionId::MPI_Barrier, {20, 303}, inter);
    p[1].finish(400);
    p.finish(380);
    EXPECT_EQ(path(p), "compute 0: 0-300 | collective? 0>1: 300-304 | compute 1: 304-400");
    Program q(4);  // rank 2 is the root, and rank 0 passes on to rank 1 what it got from there
    const auto groups = q.intercomm({0, 1}, {2, 3});
    q[0].collective(FunctionId::MPI_Bcast, {300, 303}, groups, 0);
    q[1].collective(FunctionId::MPI_Bcast, {10, 304}, groups, 0);
    q[2].collective(FunctionId::MPI_Bcast, {20, 21}, groups, model::CollectiveCall::this_rank);
    q[3].collective(FunctionId::MPI_Bcast, {20, 21}, groups, this_group);
    q[1].finish(400);
    q.finish(380);
    EXPECT_EQ(path(q), "compute 0: 0-300 | collective? 0>1: 300-304 | compute 1: 304-400");
    Program r(4);  // nobody came who could explain the end
    const auto alone = r.intercomm({0, 1}, {2, 3});
    r[0].collective(FunctionId::MPI_Barrier, {30, 53}, alone);
    r[1].collective(FunctionId::MPI_Barrier, {10, 304}, alone);
    r[2].collective(FunctionId::MPI_Barrier, {50, 53}, alone);
    r[3].collective(FunctionId::MPI_Barrier, {20, 53}, alone);
    r[1].finish(400);
    r.finish(380);
    EXPECT_EQ(path(r), "compute 2: 0-50 | collective? 2>1: 50-304 | compute 1: 304-400");
}

/// How long 1 waits for its own group says nothing of how long what comes from the other one is on its way.
TEST(Collectives, AWaitForTheOwnGroupIsNoExampleOfWhatAnOperationTakes)
{
    Program p(3);
    const auto inter = p.intercomm({0, 1}, {2});
    p[0].collective(FunctionId::MPI_Allreduce, {10'000, 10'060}, inter);
    p[1].collective(FunctionId::MPI_Allreduce, {50, 10'060}, inter);
    p[2].collective(FunctionId::MPI_Allreduce, {100, 10'060}, inter);
    p[0].finish(12'000);
    p.finish(11'000);
    EXPECT_THAT(path(p), testing::StartsWith("compute 0: 0-10000 | "));
}

TEST(Collectives, SelfCommunicatorIsLocalWork)
{
    Program p(2);
    p[0].collective(FunctionId::MPI_Barrier, {10, 13}, Program::self());
    p[1].collective(FunctionId::MPI_Barrier, {20, 24}, Program::self());
    p.finish(50);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 1: 0-20 | mpi 1: 20-24 | compute 1: 24-50");
    EXPECT_EQ(r.fact("incomplete_collectives"), 0);
}

TEST(Collectives, IncompleteAndMismatchedInstancesAreCountedAndLocal)
{
    Program p(3);  // rank 2 stops early
    p[0].collective(FunctionId::MPI_Barrier, {10, 12});
    p[1].collective(FunctionId::MPI_Barrier, {10, 12});
    p[2].collective(FunctionId::MPI_Barrier, {11, 12});
    p[0].collective(FunctionId::MPI_Barrier, {20, 60});
    p[1].collective(FunctionId::MPI_Barrier, {30, 60});
    p[0].finish(70);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 2: 0-11 | collective 2>0: 11-12 | compute 0: 12-20 | delay? 0: 20-60 | "
                        "compute 0: 60-70");
    Program q(2);
    q[0].collective(FunctionId::MPI_Barrier, {10, 60});
    q[1].collective(FunctionId::MPI_Allreduce, {50, 60});
    q[0].finish(70);
    const Replayed s = replay(q);
    EXPECT_EQ(s.path(), "compute 0: 0-10 | delay? 0: 10-60 | compute 0: 60-70");
    EXPECT_EQ(r.fact("incomplete_collectives"), 1);
    EXPECT_EQ(s.fact("mismatched_collectives"), 1);
}

TEST(Collectives, ProcessesMayStartInDifferentWays)
{
    Program p(2);
    p[0].collective(FunctionId::MPI_Init_thread, {10, 100}, 0);
    p[1].collective(FunctionId::MPI_Init, {60, 101}, 0);
    p[0].finish(190);
    p.finish(180);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 1: 0-60 | collective 1>0: 60-100 | compute 0: 100-190");
    EXPECT_EQ(r.fact("mismatched_collectives"), 0);
}

// The published method takes whoever was in the call for the shortest time. For an allreduce that is the last arriver;
// for a broadcast it is whoever came when all was over, and then the path would lead into the future.
TEST(Collectives, PaperRuleTakesTheShortestCall)
{
    Program p(3);
    p[0].collective(FunctionId::MPI_Allreduce, {10, 53});
    p[1].collective(FunctionId::MPI_Allreduce, {50, 52});
    p[2].collective(FunctionId::MPI_Allreduce, {30, 54});
    p.finish(80);
    EXPECT_EQ(path(p, Rules::Paper), "compute 1: 0-50 | collective 1>2: 50-54 | compute 2: 54-80");
    Program q(3);
    q[0].rooted(FunctionId::MPI_Bcast, {50, 52}, 0);
    q[1].rooted(FunctionId::MPI_Bcast, {10, 53}, 0);
    q[2].rooted(FunctionId::MPI_Bcast, {60, 61}, 0);
    q[1].finish(90);
    q.finish(80);
    EXPECT_EQ(path(q, Rules::Paper), "compute 1: 0-10 | mpi 1: 10-53 | compute 1: 53-90");
}

}  // namespace
}  // namespace critpath::tests

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Waits for somebody who is in MPI, and has no processor there (docs/ALGORITHM, "Samples"). Times are in us.
#include "tests/builder/replayed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::tests
{
namespace
{

using testing::HasSubstr;

/// Takes 2 us, as all of them.
constexpr std::uint64_t quick_bytes = 100'000;

void show_quick_transfer(Program& p)
{
    p[0].ssend({0, 2}, 1, quick_bytes);
    p[1].recv({0, 2}, 0, quick_bytes);
}

/// Rank 1 is there since 50, and rank 0 since 100. Rank 1 had no processor in `off`.
Program& late_sender(Program& p, const std::vector<Span>& off, bool preempted = true)
{
    show_quick_transfer(p);
    p[0].ssend({100, 400}, 1, quick_bytes);
    p[1].recv({50, 401}, 0, quick_bytes);
    for (const Span& span : off)
        p[1].off(span, preempted);
    p[0].finish(500);
    p[1].finish(450);
    return p;
}

TEST(Visits, TheReceiverIsInMpiAndHasNoProcessor)
{
    Program p(2);
    late_sender(p, {{90, 390}});
    EXPECT_EQ(path(p), "mpi 0: 0-2 | compute 0: 2-100 | mpi 1: 100-390 | mpi? 0: 390-400 | compute 0: 400-500");
    const Replayed r = replay(p);
    EXPECT_EQ(r.call_paths(), "MPI_Recv;[preempted]: 290 | MPI_Ssend: 12 | [compute]: 198");
    EXPECT_EQ(r.fact("hops"), 2);
    EXPECT_EQ(r.fact("low_confidence_ns"), 10'000);
    EXPECT_EQ(r.fact("led_by_doubt_ns"), 10'000);  // where rank 1 had no processor, the path is for sure
}

/// It looks for less than the message would take, which is 20 us and some.
TEST(Visits, AMomentWithAProcessorIsNotEnough)
{
    Program p(2);
    late_sender(p, {{90, 200}, {220, 390}});
    EXPECT_EQ(path(p), "mpi 0: 0-2 | compute 0: 2-100 | mpi 1: 100-390 | mpi? 0: 390-400 | compute 0: 400-500");
    EXPECT_EQ(replay(p).path_us("[preempted]"), 270);
}

/// But what had time before, and nothing ended with, did not wait for this.
TEST(Visits, WhoHadAProcessorForLongIsNotTheReason)
{
    const std::string stays = "mpi 0: 0-2 | compute 0: 2-100 | mpi? 0: 100-400 | compute 0: 400-500";
    Program p(2);
    EXPECT_EQ(path(late_sender(p, {{200, 300}})), stays);
    Program over_before(2);
    EXPECT_EQ(path(late_sender(over_before, {{60, 99}})), stays);
    Program still_off(2);  // when the sender went on
    EXPECT_EQ(path(late_sender(still_off, {{300, 401}})), stays);
    Program blocked(2);  // it waits itself
    EXPECT_EQ(path(late_sender(blocked, {{90, 390}}, false)), stays);
    Program tight(2);
    EXPECT_EQ(
        path(late_sender(tight, {{200, 390}})),
        "mpi 0: 0-2 | compute 0: 2-100 | mpi? 0: 100-200 | mpi 1: 200-390 | mpi? 0: 390-400 | compute 0: 400-500");
}

TEST(Visits, TheSenderIsInMpiAndHasNoProcessor)
{
    Program p(2);
    show_quick_transfer(p);
    p[1].recv({50, 400}, 0, quick_bytes);
    p[0].ssend({100, 399}, 1, quick_bytes);
    p[0].off({103, 390}, true);
    p[1].finish(500);
    p[0].finish(450);
    EXPECT_EQ(path(p), "mpi 0: 0-2 | compute 0: 2-100 | transfer? 0>1: 100-103 | mpi 0: 103-390 "
                       "| transfer? 0>1: 390-400 | compute 1: 400-500");
    EXPECT_EQ(replay(p).fact("hops"), 3);
}

/// The receiver had no processor at the end: what the message waited for then is its own.
TEST(Visits, BothHaveNoProcessorOneAfterTheOther)
{
    Program p(2);
    show_quick_transfer(p);
    p[1].recv({50, 400}, 0, quick_bytes);
    p[1].off({150, 399}, true);
    p[0].ssend({100, 300}, 1, quick_bytes);
    p[0].off({101, 290}, true);
    p[1].finish(500);
    p[0].finish(450);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "mpi 0: 0-2 | compute 0: 2-100 | transfer? 0>1: 100-101 | mpi 0: 101-290 "
                        "| transfer? 0>1: 290-292 | delay 1: 292-400 | compute 1: 400-500");
    EXPECT_EQ(r.call_paths(), "MPI_Recv: 1 | MPI_Recv;[preempted]: 107 | MPI_Recv;[transfer]: 3 | MPI_Ssend: 2 "
                              "| MPI_Ssend;[preempted]: 189 | [compute]: 198");
}

/// Once the partner is back, it leaves, and is preempted again outside of MPI.
TEST(Visits, WhatThePartnerLacksLaterIsItsOwnMatter)
{
    Program p(2);
    show_quick_transfer(p);
    p[0].ssend({100, 400}, 1, quick_bytes);
    p[0].off({289, 398}, true);
    p[1].recv({50, 300}, 0, quick_bytes);
    p[1].off({90, 290}, true);
    p[1].off({310, 350}, true);
    p[0].finish(500);
    p[1].finish(450);
    EXPECT_EQ(path(p), "mpi 0: 0-2 | compute 0: 2-100 | mpi 1: 100-290 | mpi 0: 290-400 | compute 0: 400-500");
    EXPECT_EQ(replay(p).call_paths(), "MPI_Recv;[preempted]: 190 | MPI_Ssend: 4 | MPI_Ssend;[preempted]: 108 "
                                      "| [compute]: 198");
}

/// It is no doubt what takes long of a call whose own thread has no processor for most of it, and at last.
TEST(Visits, WhoWaitsLacksTheProcessorItself)
{
    const auto with = [](Span off) {
        Program p(2);
        show_quick_transfer(p);
        p[0].ssend({100, 400}, 1, quick_bytes);
        p[0].off(off, true);
        p[1].recv({50, 401}, 0, quick_bytes);
        p[0].finish(500);
        p[1].finish(450);
        return path(p);
    };
    EXPECT_THAT(with({110, 380}), HasSubstr("| mpi 0: 100-400 |"));
    EXPECT_THAT(with({110, 330}), HasSubstr("| mpi? 0: 100-400 |"));  // and then it has one for 70 us
    EXPECT_THAT(with({300, 399}), HasSubstr("| mpi? 0: 100-400 |"));  // before that, it had one for 200 us
}

/// Preempted while it computes, the receiver is late, and that is all.
TEST(Visits, WhoComputesIsNotVisited)
{
    Program p(2);
    show_quick_transfer(p);
    p[0].ssend({100, 400}, 1, quick_bytes);
    const Request received = p[1].irecv({50, 51}, 0, quick_bytes);
    p[1].off({90, 390}, true);
    p[1].wait({395, 401}, received);
    p[0].finish(500);
    p[1].finish(450);
    EXPECT_THAT(path(p), HasSubstr("compute 1: 51-395 | transfer 1>0: 395-400"));
}

TEST(Visits, OfSeveralPartnersTheLastOneCounts)
{
    Program p(3);
    show_quick_transfer(p);
    p[1].recv({50, 401}, 0, quick_bytes);
    p[2].recv({50, 401}, 0, quick_bytes);
    p[1].off({90, 200}, true);
    p[2].off({90, 390}, true);
    const Request first = p[0].issend({100, 101}, 1, quick_bytes);
    const Request second = p[0].issend({101, 102}, 2, quick_bytes);
    p[0].waitall({102, 400}, {first, second});
    p[0].finish(500);
    p[1].finish(450);
    p[2].finish(450);
    EXPECT_THAT(path(p), HasSubstr("mpi 0: 100-102 | mpi 2: 102-390 | delay? 0: 390-400"));
}

/// All know what it takes; later, rank 2 comes last. The path ends on `longest`.
Program& barriers(Program& p, Span off, int who, int longest = 0)
{
    for (int rank = 0; rank < 3; ++rank)
        p[rank].collective(FunctionId::MPI_Allreduce, {0, 3});
    for (int rank = 0; rank < 3; ++rank)
        p[rank].collective(FunctionId::MPI_Allreduce, {rank == 2 ? 100 : 50, 400 + rank});
    p[who].off(off, true);
    for (int rank = 0; rank < 3; ++rank)
        p[rank].finish(rank == longest ? 500 : 450);
    return p;
}

TEST(Visits, TheLastMemberHasNoProcessorOnceItIsThere)
{
    Program p(3);
    EXPECT_THAT(path(barriers(p, {101, 395}, 2)),
                HasSubstr("compute 2: 3-100 | collective 2>0: 100-101 | mpi 2: 101-395 "
                          "| collective 2>0: 395-400 | compute 0: 400-500"));
}

/// Who came before the last may have given its part to the others before that: it seems so only.
TEST(Visits, AnotherMemberHasNoProcessor)
{
    Program p(3);
    EXPECT_THAT(path(barriers(p, {60, 395}, 1)),
                HasSubstr("compute 2: 3-100 | mpi? 1: 100-395 | collective 2>0: 395-400 | compute 0: 400-500"));
    Program over_before(3);
    EXPECT_THAT(path(barriers(over_before, {60, 300}, 1)), HasSubstr("compute 2: 3-100 | collective 2>0: 100-400"));
}

TEST(Visits, WhoComesLastItselfWaitsForAnotherMember)
{
    Program p(3);
    barriers(p, {60, 395}, 1, 2);
    EXPECT_THAT(path(p), HasSubstr("compute 2: 3-100 | mpi? 1: 100-395 | collective 2: 395-402 | compute 2: 402-500"));
}

}  // namespace
}  // namespace critpath::tests

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the error of clocks does to decisions (docs/ALGORITHM, "Clocks"). Times are in us.
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
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

void finish_with_first(Program& p)
{
    p[0].finish(9000);
    for (int r = 1; r < p.ranks(); ++r)
        p[r].finish(4000);
}

// Rank 2 is the next one behind rank 1, and known to be; rank 0, of whose clock less is known, may have come after
// both.
TEST(Clocks, ALateRivalOfAGoodClockDoesNotHideAnEarlierOneOfABadOne)
{
    for (const FunctionId function : {FunctionId::MPI_Barrier, FunctionId::MPI_Allgather, FunctionId::MPI_Gather})
        for (const std::int64_t error : {1, 100}) {
            Program p(4);
            p.clocks({0, 1, 2, 3}, {0, 1, 1, error});
            const bool is_rooted = function == FunctionId::MPI_Gather;
            const std::array<Span, 4> calls{{{10, 1053}, {1050, 1053}, {1045, 1053}, {1044, 1053}}};
            for (int r = 0; r < 4; ++r)
                p[r].collective(function, calls[static_cast<std::size_t>(r)], model::CommId{0}, is_rooted ? 0 : -1);
            finish_with_first(p);
            const bool is_doubted = path(p).find("collective? 1>0: 1050-1053") != std::string::npos;
            EXPECT_EQ(is_doubted, error == 100) << path(p);
        }
}

// The last two of three messages are of one clock; the third one's may have come after both.
TEST(Clocks, AMessageThatIsFarBehindMayBeOfAClockOfWhichLittleIsKnown)
{
    for (const std::int64_t error : {1, 100}) {
        Program p(4);
        p.clocks({0, 1, 1, 2}, {0, 1, error});
        const auto first = p[0].irecv({900, 901}, 1), second = p[0].irecv({902, 903}, 2),
                   third = p[0].irecv({904, 905}, 3);
        p[1].send({2050, 2051}, 0);
        p[2].send({2045, 2046}, 0);
        p[3].send({2030, 2031}, 0);
        p[0].waitall({1000, 2053}, {first, second, third});
        finish_with_first(p);
        const bool is_doubted = path(p).find("transfer? 1>0: 2050-2053") != std::string::npos;
        EXPECT_EQ(is_doubted, error == 100) << path(p);
    }
}

// Two senders with one clock: the order of their posts is exact, but what the larger message takes was learned from
// times of two clocks.
TEST(Clocks, TransfersOfDifferentLengthsAreNotComparedExactly)
{
    constexpr std::uint64_t many = 1000;            // bytes; eager
    for (const std::int64_t sent : {2011, 1900}) {  // it arrives 2 or 113 us before the other
        Program p(3);
        p.clocks({0, 1, 1}, {0, 20});
        p[1].send({100, 101}, 0);
        p[0].recv({50, 103}, 1);
        p[2].send({200, 240}, 0, many);
        p[0].recv({150, 240}, 2, many);
        const auto small = p[0].irecv({900, 901}, 1), large = p[0].irecv({902, 903}, 2, many);
        p[1].send({2050, 2051}, 0);
        p[2].send({sent, sent + 40}, 0, many);
        p[0].waitall({1000, 2053}, {small, large});
        finish_with_first(p);
        const bool is_doubted = path(p).find("transfer? 1>0: 2050-2053") != std::string::npos;
        EXPECT_EQ(is_doubted, sent == 2011) << path(p);
    }
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

// Rank 2's clock is 13 us late, so that it seems to be the last one to come. But rank 1 was inside for the shortest
// time.
TEST(Clocks, WhoWasInsideForTheShortestTimeCameLastWhereClocksCannotTell)
{
    const auto barrier = [](std::int64_t uncertainty) {
        Program p(3);
        p.clocks({0, 1, 2}, {0, uncertainty, uncertainty});
        p[0].collective(FunctionId::MPI_Barrier, {10, 53});
        p[1].collective(FunctionId::MPI_Barrier, {50, 52});
        p[2].collective(FunctionId::MPI_Barrier, {53, 67});
        p.finish(80);
        return path(p);
    };
    EXPECT_EQ(barrier(10), "compute 1: 0-50 | collective? 1>2: 50-67 | compute 2: 67-80");
    EXPECT_EQ(barrier(1), "compute 2: 0-53 | collective 2: 53-67 | compute 2: 67-80");
    // The leaves are further apart than the clocks may be off: then they say nothing either.
    EXPECT_EQ(barrier(7), "compute 2: 0-53 | collective? 2: 53-67 | compute 2: 67-80");
}

// Ranks 1 and 2 share a clock, which tells their order exactly.
TEST(Clocks, OnOneClockTheShortestTimeDoesNotCount)
{
    Program p(3);
    p.clocks({0, 1, 1}, {0, 60});
    p[0].collective(FunctionId::MPI_Barrier, {10, 53});
    p[1].collective(FunctionId::MPI_Barrier, {50, 52});
    p[2].collective(FunctionId::MPI_Barrier, {51, 54});
    p.finish(80);
    EXPECT_EQ(path(p), "compute 2: 0-51 | collective? 2: 51-54 | compute 2: 54-80");
}

// Two barriers: it is clear who came last to the first one, and not who came last to the second one.
TEST(Clocks, WhatWasDecidedWithinTheirErrorGoesBackToTheNextChoice)
{
    Program p(2);
    p.clocks({0, 1}, {0, 5});
    p[0].collective(FunctionId::MPI_Barrier, {30, 34});
    p[1].collective(FunctionId::MPI_Barrier, {10, 35});
    p[0].collective(FunctionId::MPI_Barrier, {60, 64});
    p[1].collective(FunctionId::MPI_Barrier, {58, 65});
    p[0].finish(70);
    p[1].finish(80);
    const Replayed replayed = replay(p);
    EXPECT_EQ(replayed.path(), "compute 0: 0-30 | collective 0: 30-34 | compute 0: 34-60 | collective? 0>1: 60-65 | "
                               "compute 1: 65-80");
    EXPECT_EQ(replayed.fact("clock_decided_ns"), 65'000 - 34'000);
    EXPECT_EQ(replayed.fact("clock_doubted_ns"), 65'000 - 30'000);  // from rank 1, the first one is 1's from 30 on
    ASSERT_EQ(replayed.profile.clocks.size(), 2);
    EXPECT_EQ(replayed.profile.clocks[0].decided_ns, 60'000 - 34'000);
    EXPECT_EQ(replayed.profile.clocks[0].last_arrivals, 2);
    EXPECT_EQ(replayed.profile.clocks[1].path_ns, 20'000);
}

// The message may have been there already; if so, the path is on rank 1 from the start. The second one is clear.
TEST(Clocks, WhatMessagesLeaveOpenStaysOpenUntilAllMeet)
{
    Program p(2);
    p.clocks({0, 1}, {0, 5});
    p[0].send({20, 21}, 1);
    p[1].recv({19, 33}, 0);
    p[1].send({40, 41}, 0);
    p[0].recv({25, 43}, 1);
    p[0].finish(80);
    p[1].finish(60);
    const Replayed replayed = replay(p);
    EXPECT_EQ(replayed.path(), "compute 0: 0-20 | transfer? 0>1: 20-33 | compute 1: 33-40 | transfer 1>0: 40-43 | "
                               "compute 0: 43-80");
    EXPECT_EQ(replayed.fact("clock_decided_ns"), 33'000);
    EXPECT_EQ(replayed.fact("clock_doubted_ns"), 33'000 + 5'000);  // and the second transfer is off by 5 us
}

// Of two that end within the error of the clocks, the path may begin at either.
TEST(Clocks, TheEndMayBeElsewhere)
{
    Program p(2);
    p.clocks({0, 1}, {0, 5});
    p[0].finish(80);
    p[1].finish(77);
    EXPECT_EQ(replay(p).fact("clock_decided_ns"), 80'000);
    Program sure(2);
    sure.clocks({0, 1}, {0, 2});
    sure[0].finish(80);
    sure[1].finish(77);
    EXPECT_EQ(replay(sure).fact("clock_decided_ns"), 0);
}

// Nobody leaves a barrier before all have come: 3 us earlier is more than these clocks may be off.
TEST(Clocks, LeavingABarrierTooEarlyIsAViolation)
{
    const auto violations = [](std::int64_t uncertainty) {
        Program p(2);
        p.clocks({0, 1}, {0, uncertainty});
        p[0].collective(FunctionId::MPI_Barrier, {10, 50});
        p[1].collective(FunctionId::MPI_Barrier, {53, 56});
        p.finish(80);
        return replay(p).fact("clock_violations");
    };
    EXPECT_EQ(violations(2), 1);
    EXPECT_EQ(violations(3), 0);
}

// Ranks 0 and 1 share a clock: it tells that rank 0 did not wait, whatever that of rank 2 may be off.
TEST(Clocks, WhoLeftBeforeOnTheSameClockWaitedForNobody)
{
    for (const std::int64_t leave : {20, 50}) {
        Program p(3);
        p.clocks({0, 0, 1}, {0, 60});
        p[0].collective(FunctionId::MPI_File_write_all, {10, leave});
        p[1].collective(FunctionId::MPI_File_write_all, {60, 101});
        p[2].collective(FunctionId::MPI_File_write_all, {30, 70});
        p[0].finish(190);
        p.finish(110);
        const Replayed replayed = replay(p);
        EXPECT_EQ(replayed.path(), fmt::format("compute 0: 0-10 | mpi 0: 10-{0} | compute 0: {0}-190", leave));
        EXPECT_EQ(replayed.fact("clock_violations"), 0);
    }
}

}  // namespace
}  // namespace critpath::tests

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Transfers that stand still while one side is outside of MPI (docs/ALGORITHM, "Late progress"). Times are in us.
#include "tests/builder/replayed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace critpath::tests
{
namespace
{

constexpr std::uint64_t large_bytes = 100'000;

/// Both ranks know what a large message takes: 100 us.
void show_large_transfer(Program& p)
{
    p[0].ssend({0, 100}, 1, large_bytes);
    p[1].recv({0, 100}, 0, large_bytes);
}

TEST(LateProgress, TheReceiverWaitsUntilTheSenderIsBackInMpi)
{
    Program p(2);
    show_large_transfer(p);
    const Request sent = p[0].issend({110, 111}, 1, large_bytes);
    p[0].wait({500, 600}, sent);
    p[1].recv({120, 600}, 0, large_bytes);
    p[1].finish(700);
    p[0].finish(650);
    EXPECT_EQ(path(p),
              "mpi 0: 0-100 | compute 0: 100-110 | mpi 0: 110-111 | compute 0: 111-500 | transfer? 0>1: 500-600 "
              "| compute 1: 600-700");
}

TEST(LateProgress, TheSenderWaitsUntilTheReceiverIsBackInMpi)
{
    Program p(2);
    show_large_transfer(p);
    const Request received = p[1].irecv({110, 111}, 0, large_bytes);
    p[1].wait({500, 600}, received);
    p[0].ssend({120, 600}, 1, large_bytes);
    p[0].finish(700);
    p[1].finish(650);
    EXPECT_EQ(path(p),
              "mpi 1: 0-100 | compute 1: 100-110 | mpi 1: 110-111 | compute 1: 111-500 | transfer 1>0: 500-600 "
              "| compute 0: 600-700");
}

/// A call that does its own work begins no transfer, and between two of them nobody is back.
TEST(LateProgress, NobodyIsBackInMpiInCallsThatDoTheirOwnWork)
{
    for (const FunctionId function : {FunctionId::MPI_Pack, FunctionId::MPI_Reduce_local, FunctionId::MPI_Free_mem}) {
        Program p(2);
        show_large_transfer(p);
        const Request received = p[1].irecv({110, 111}, 0, large_bytes);
        p[1].call(function, {300, 301});
        p[1].wait({500, 600}, received);
        p[0].ssend({120, 600}, 1, large_bytes);
        p[0].finish(700);
        p[1].finish(650);
        EXPECT_EQ(path(p), "mpi 1: 0-100 | compute 1: 100-110 | mpi 1: 110-111 | compute 1: 111-300 | mpi 1: 300-301 | "
                           "compute 1: 301-500 | transfer 1>0: 500-600 | compute 0: 600-700");
    }
}

/// A receiver that has not been in MPI since both posted cannot have begun. If it has, if the rest is no transfer as
/// they are, or the longer part, it may have been something else.
TEST(LateProgress, ASendThatCannotHaveBegunBeforeIsNotInDoubt)
{
    const auto leads = [](std::int64_t looks, std::int64_t back, std::int64_t end) {
        Program p(2);
        show_large_transfer(p);
        const Request received = p[1].irecv({110, 111}, 0, large_bytes);
        if (looks > 0)
            p[1].call(FunctionId::MPI_Test, {looks, looks + 1});
        p[1].wait({back, end}, received);
        p[0].ssend({120, end}, 1, large_bytes);
        p[0].finish(end + 100);
        p[1].finish(end + 50);
        const std::string all = path(p);
        const std::size_t transfer = all.find("transfer");
        return transfer == std::string::npos ? all : all.substr(transfer, all.find(':', transfer) - transfer);
    };
    EXPECT_EQ(leads(0, 500, 600), "transfer 1>0");
    EXPECT_EQ(leads(0, 500, 720), "transfer 1>0");
    EXPECT_EQ(leads(130, 500, 600), "transfer? 1>0");
    EXPECT_EQ(leads(0, 800, 1050), "transfer? 1>0");
    EXPECT_EQ(leads(0, 250, 400), "transfer? 1>0");
}

/// The sender has a processor again long after the transfer was over. What ran for a while in between, before, would
/// have found that.
TEST(LateProgress, TheCallMayHaveEndedSinceItsThreadLostItsProcessor)
{
    for (const std::int64_t lacks_since : {4000, 6000}) {
        Program p(2);
        show_large_transfer(p);
        const Request received = p[1].irecv({110, 111}, 0, large_bytes);
        p[1].wait({5000, 5100}, received);
        p[0].ssend({3000, 9000}, 1, large_bytes);
        p[0].off({lacks_since, lacks_since + 1500}, true);
        p[0].off({lacks_since + 1510, 8990}, true);
        p[0].finish(9100);
        p[1].finish(9050);
        if (lacks_since == 4000)
            EXPECT_EQ(path(p), "mpi 1: 0-100 | compute 1: 100-110 | mpi 1: 110-111 | compute 1: 111-5000 | "
                               "transfer? 1>0: 5000-5100 | delay 0: 5100-9000 | compute 0: 9000-9100");
        else  // it ran for long after the transfer was over
            EXPECT_EQ(path(p), "mpi 0: 0-100 | compute 0: 100-3000 | mpi? 0: 3000-9000 | compute 0: 9000-9100");
    }
}

/// Both are in MPI, and nothing says why it took so long: perhaps the receiver had no processor.
TEST(LateProgress, WhatATransferDoesNotExplainIsDoubtful)
{
    for (const std::int64_t end : {600, 1100}) {
        Program p(2);
        show_large_transfer(p);
        p[1].recv({110, end}, 0, large_bytes);
        p[0].ssend({200, end}, 1, large_bytes);
        p[0].finish(1200);
        p[1].finish(1150);
        const std::string of_send = end == 600 ? "mpi 0: 200-600" : "mpi? 0: 200-1100";
        EXPECT_EQ(path(p),
                  "mpi 0: 0-100 | compute 0: 100-200 | " + of_send + " | compute 0: " + std::to_string(end) + "-1200");
    }
}

TEST(LateProgress, WhoComesBackLastBeginsTheTransferItself)
{
    Program p(2);
    show_large_transfer(p);
    const Request first_sent = p[0].issend({101, 102}, 1, large_bytes);
    const Request first_received = p[1].irecv({101, 102}, 0, large_bytes);
    p[0].wait({300, 301}, first_sent);  // over at 201: this is what MPI_Wait costs
    p[1].wait({300, 301}, first_received);
    const Request sent = p[0].issend({310, 311}, 1, large_bytes);
    const Request received = p[1].irecv({312, 313}, 0, large_bytes);
    p[0].wait({700, 1200}, sent);
    p[1].wait({1100, 1200}, received);
    p[1].finish(1400);
    p[0].finish(1300);
    EXPECT_EQ(path(p), "mpi 1: 0-100 | compute 1: 100-101 | mpi 1: 101-102 | compute 1: 102-300 | mpi 1: 300-301 | "
                       "compute 1: 301-312 | mpi 1: 312-313 | compute 1: 313-1100 | mpi? 1: 1100-1200 | "
                       "compute 1: 1200-1400");
}

/// A large send in ready mode waits for the receiver as one in standard mode does.
TEST(LateProgress, AReadySendWaitsUntilTheReceiverIsBackInMpi)
{
    Program p(2);
    show_large_transfer(p);
    const Request received = p[1].irecv({110, 111}, 0, large_bytes);
    p[1].wait({500, 600}, received);
    p[0].rsend({120, 600}, 1, large_bytes);
    p[0].finish(700);
    p[1].finish(650);
    EXPECT_EQ(path(p),
              "mpi 1: 0-100 | compute 1: 100-110 | mpi 1: 110-111 | compute 1: 111-500 | transfer 1>0: 500-600 "
              "| compute 0: 600-700");
}

/// What is only posted meanwhile does not move anything on.
TEST(LateProgress, WhoOnlyPostsIsOutside)
{
    Program p(2);
    show_large_transfer(p);
    const Request sent = p[0].issend({110, 111}, 1, large_bytes);
    const Request received = p[1].irecv({110, 111}, 0, large_bytes);
    p[0].wait({300, 5150}, sent);
    std::vector<Request> others;
    for (const int t : {2000, 3500})
        others.push_back(p[1].irecv({t, t + 1}, 0, 8, 1));
    p[1].wait({5000, 5150}, received);
    for (int i = 0; i < 2; ++i) {
        p[0].send({5200 + 10 * i, 5201 + 10 * i}, 1, 8, 1);
        p[1].wait({5300 + 10 * i, 5301 + 10 * i}, others[static_cast<std::size_t>(i)]);
    }
    p[0].finish(7000);
    p[1].finish(6000);
    EXPECT_THAT(path(p), testing::HasSubstr("compute 1: 3501-5000 | transfer? 1>0: 5000-5150"));
}

/// Rank 1 receives for 12 ms what rank 0 began to send before; that was in MPI at `visit`, and from 12 ms on.
std::string path_of_two_returns(Span visit)
{
    Program p(2);
    show_large_transfer(p);
    const Request sent = p[0].issend({110, 111}, 1, large_bytes);
    p[0].call(FunctionId::MPI_Request_get_status, visit);
    p[0].wait({12'000, 12'100}, sent);
    p[1].recv({120, 12'100}, 0, large_bytes);
    p[1].finish(13'000);
    p[0].finish(12'500);
    return path(p);
}

/// It comes back 4 ms and 0.1 ms before the end: the one is too long before it, and before the other it was outside for
/// a third of the time. Both together, it was outside for all of it.
TEST(LateProgress, ItMayTakeSeveralReturns)
{
    EXPECT_EQ(path_of_two_returns({8000, 8001}),
              "mpi 0: 0-100 | compute 0: 100-110 | mpi 0: 110-111 | compute 0: 111-8000 | mpi 0: 8000-8001 | "
              "compute 0: 8001-12000 | transfer? 0>1: 12000-12100 | compute 1: 12100-13000");
}

/// It was in MPI for a fifth of the time: the transfer could have moved on then.
TEST(LateProgress, SeveralReturnsOfWhoWasInMpiMeanwhileAreNotTheReason)
{
    EXPECT_THAT(path_of_two_returns({6000, 8500}), testing::Not(testing::HasSubstr("transfer")));
}

TEST(LateProgress, WhatMovesOnByItselfIsNotSaidToHaveStoodStill)
{
    Program p(2);
    show_large_transfer(p);
    const Request sent = p[0].issend({110, 111}, 1, large_bytes);
    p[0].wait({215, 221}, sent);  // just before the end, but the transfer began long before
    p[1].recv({120, 220}, 0, large_bytes);
    p[1].finish(700);
    p[0].finish(650);
    EXPECT_EQ(path(p), "mpi 1: 0-100 | compute 1: 100-120 | mpi 1: 120-220 | compute 1: 220-700");
}

/// What rank 1 sends explains all but 20 us of what rank 0 waits for. Rank 2 came back before rank 1 sent it.
TEST(LateProgress, WhoCameBackBeforeWhatElseTheCallWaitedForIsNotTheReason)
{
    Program p(3);
    show_large_transfer(p);
    const Request from_1 = p[0].irecv({110, 111}, 1, large_bytes), from_2 = p[0].irecv({111, 112}, 2, large_bytes);
    const Request sent_2 = p[2].issend({112, 113}, 0, large_bytes);
    p[2].wait({930, 1110}, sent_2);
    const Request sent_1 = p[1].issend({1000, 1001}, 0, large_bytes);
    p[1].wait({1002, 1120}, sent_1);
    p[0].waitall({200, 1120}, {from_1, from_2});
    p[0].finish(2000);
    p[1].finish(1200);
    p[2].finish(1200);
    EXPECT_EQ(path(p), "mpi 1: 0-100 | compute 1: 100-1000 | transfer 1>0: 1000-1120 | compute 0: 1120-2000");
}

// Nothing more can be buffered before the receiver takes what is there, in a call that has nothing to do with it.
TEST(LateProgress, BufferedSendsMayBeHeldUntilTheReceiverIsInMpi)
{
    Program p(2);
    p[0].send({0, 2}, 1, 8);
    p[1].recv({0, 4}, 0, 8);
    p[0].send({10, 503}, 1, 8);
    p[1].call(FunctionId::MPI_Request_get_status, {500, 501});
    p[1].recv({600, 604}, 0, 8);
    p[1].finish(700);
    p[0].finish(750);
    EXPECT_EQ(path(p), "mpi 1: 0-4 | compute 1: 4-500 | transfer? 1>0: 500-503 | compute 0: 503-750");
}

// A slow transfer is no proof: the sender came back, but long before.
TEST(LateProgress, WhoCameBackAtAnotherTimeIsNotTheReason)
{
    Program p(2);
    show_large_transfer(p);
    const Request sent = p[0].issend({110, 111}, 1, large_bytes);
    p[0].call(FunctionId::MPI_Request_get_status, {200, 201});
    p[0].wait({1400, 1401}, sent);
    p[1].recv({120, 400}, 0, large_bytes);
    p[1].finish(1600);
    p[0].finish(1500);
    EXPECT_EQ(path(p), "mpi 1: 0-100 | compute 1: 100-120 | mpi 1: 120-400 | compute 1: 400-1600");
}

// Until 500 the sender was outside of MPI itself, so that it does not matter that the receiver came to MPI then.
TEST(LateProgress, WhoCameBackWhileTheOtherWasOutsideIsNotTheReason)
{
    Program p(2);
    show_large_transfer(p);
    const Request received = p[1].irecv({110, 111}, 0, large_bytes);
    for (const int t : {250, 450, 700})
        p[1].call(FunctionId::MPI_Request_get_status, {t, t + 1});
    const Request sent = p[0].issend({112, 113}, 1, large_bytes);
    p[0].wait({500, 800}, sent);
    p[1].wait({900, 901}, received);
    p[0].finish(1900);
    p[1].finish(1000);
    EXPECT_EQ(path(p), "mpi 1: 0-100 | compute 1: 100-110 | mpi 1: 110-111 | compute 1: 111-250 | mpi 1: 250-251 | "
                       "compute 1: 251-450 | mpi 1: 450-451 | compute 1: 451-700 | transfer? 1>0: 700-800 | "
                       "compute 0: 800-1900");
}

/// Nobody knows what a message takes but from those that stood still: 2 us after the sender was back, not 400 us.
TEST(LateProgress, IsNotLearnedAsTheTimeOfTransfers)
{
    for (const std::uint64_t bytes : {std::uint64_t{8}, large_bytes}) {
        Program p(2);
        for (const int t : {0, 1000, 2000}) {
            const Request sent = p[0].isend({t + 10, t + 11}, 1, bytes);
            p[0].wait({t + 400, t + 401}, sent);
            p[1].recv({t + 12, t + 402}, 0, bytes);
        }
        p[1].finish(3000);
        p[0].finish(2500);
        EXPECT_EQ(path(p),
                  "compute 0: 0-10 | mpi 0: 10-11 | compute 0: 11-400 | mpi 0: 400-401 | compute 0: 401-1010 | "
                  "mpi 0: 1010-1011 | compute 0: 1011-1400 | mpi 0: 1400-1401 | compute 0: 1401-2010 | "
                  "mpi 0: 2010-2011 | compute 0: 2011-2400 | transfer? 0>1: 2400-2402 | compute 1: 2402-3000")
            << bytes;
    }
}

/// Who waits for several messages waits for the one that stands still, which need not be the one that began last.
TEST(LateProgress, WhatWaitsBesideIsNotLearnedAsTheTimeOfTransfers)
{
    Program p(3);
    constexpr std::int64_t rounds = 4, round = 30'030, work_of_root = 15'000;
    const std::int64_t overlapped[] = {5'000, 30'000, 5'000};
    for (std::int64_t k = 0; k < rounds; ++k)
        for (int r = 0; r < 3; ++r) {
            const std::int64_t t = 10 + k * round + (r == 0 ? work_of_root : 0);
            const int left = (r + 2) % 3, right = (r + 1) % 3;
            const std::vector<Request> requests = {
                p[r].irecv({t, t + 1}, left, 4000, 1), p[r].irecv({t + 1, t + 2}, right, 4000, 2),
                p[r].isend({t + 2, t + 3}, right, 4000, 1), p[r].isend({t + 3, t + 4}, left, 4000, 2)};
            p[r].waitall({t + overlapped[r], 10 + (k + 1) * round - 10 + 2 * r}, requests);
        }
    p[0].finish(rounds * round + work_of_root);
    p[1].finish(rounds * round + 1'000);
    p[2].finish(rounds * round + 1'000);
    const Replayed r = replay(p);
    std::int64_t on_rank_1 = 0;
    for (const model::Segment& segment : r.segments)
        on_rank_1 += segment.location == 1 ? segment.end - segment.begin : 0;
    EXPECT_GE(on_rank_1, rounds * 29'900 * 1000) << r.path();
}

/// Of a round: what rank 1 computes after it has posted a receive of 16 MiB, when rank 0 comes to send them, and when
/// rank 0 is done with them: rank 1 is by then, too, or when it asks for them. Rank 1 may post another receive
/// meanwhile.
struct Round {
    std::int64_t computes, sent, end;
    std::int64_t posts = 0;
};

/// No round shows what the messages take alone, and no call of rank 0 what it costs.
Replayed rounds(const std::function<Round(std::int64_t)>& round_of)
{
    constexpr std::uint64_t bytes = 16 << 20;
    constexpr std::int64_t rounds = 8, round = 60'000;
    Program p(2);
    for (std::int64_t k = 0; k < rounds; ++k) {
        const Round r = round_of(k);
        const std::int64_t t = k * round;
        const std::int64_t taken = t + std::max(r.end, r.computes + 1);
        const Request received = p[1].irecv({t, t + 1}, 0, bytes);
        const Request other = r.posts > 0 ? p[1].irecv({t + r.posts, t + r.posts + 1}, 0, 8, 1) : received;
        p[1].wait({t + r.computes, taken}, received);
        p[0].send({t + r.sent, t + r.end}, 1, bytes);
        if (r.posts > 0) {
            p[0].send({t + r.end + 1, t + r.end + 2}, 1, 8, 1);
            p[1].wait({taken + 10, taken + 11}, other);
        }
        for (int rank = 0; rank < 2; ++rank)
            p[rank].collective(FunctionId::MPI_Barrier, {rank == 0 ? t + round - 10 : taken + 100, t + round});
    }
    p.finish(rounds * round + 10);
    return replay(p);
}

/// Rank 0 comes 20 ms before the end of what rank 1 computes.
Replayed standing_rounds(const std::function<std::int64_t(std::int64_t)>& took)
{
    return rounds([&](std::int64_t k) { return Round{30'000, 10'000, 30'000 + took(k)}; });
}

std::int64_t computed_ms(const Replayed& r, std::uint32_t rank)
{
    std::int64_t ns = 0;
    for (const model::Segment& segment : r.segments)
        ns += model::SegmentKind{segment.kind} == model::SegmentKind::Compute && segment.location == rank
                  ? segment.end - segment.begin
                  : 0;
    return ns / 1'000'000;
}

TEST(LateProgress, WhatStandsStillInEachRoundIsNotLearnedAsTheTimeOfATransfer)
{
    const Replayed r = standing_rounds([](std::int64_t /*k*/) { return 5'000; });
    EXPECT_EQ(computed_ms(r, 1), 8 * 30) << r.path();
    EXPECT_EQ(computed_ms(r, 0), 8 * 25 - 1) << r.path();
}

/// Rank 1 posts another receive while it computes: that moves nothing.
TEST(LateProgress, APostIsNoReturnFromWhichTheTimeOfATransferIsLearned)
{
    const Replayed r = rounds([](std::int64_t /*k*/) { return Round{30'000, 10'000, 35'000, 15'000}; });
    EXPECT_EQ(computed_ms(r, 1), 8 * 30 - 1) << r.path();
    EXPECT_EQ(computed_ms(r, 0), 8 * 25 - 1) << r.path();
}

/// The first one, which rank 1 waits for, takes 40 ms, for new connections and pages; the others took less as a whole.
TEST(LateProgress, ASlowFirstTransferDoesNotHideThatTheOthersStandStill)
{
    const Replayed r = rounds([](std::int64_t k) {
        return k == 0 ? Round{1'000, 10'000, 50'000} : Round{30'000, 10'000, 35'000};
    });
    EXPECT_EQ(computed_ms(r, 1), 7 * 30) << r.path();
}

/// Nor does it if it took less than them as a whole: who moves on by itself would not take longer each time, and end
/// when its receiver is back. Where that is about as long, nobody knows.
TEST(LateProgress, ASlowFirstTransferThatTookLessThanTheOthersDoesNotHideIt)
{
    for (const std::int64_t first : {18'000, 28'000}) {
        const Replayed r = rounds([&](std::int64_t k) {
            return k == 0 ? Round{1'000, 10'000, 10'000 + first} : Round{40'000, 10'000, 43'000};
        });
        EXPECT_EQ(computed_ms(r, 1), first == 18'000 ? 7 * 40 : 0) << r.path();
    }
}

/// They take between 4 and 8 ms.
TEST(LateProgress, TransfersThatStandStillMayTakeTwiceAsLongAsOthers)
{
    const Replayed r = standing_rounds([](std::int64_t k) { return 4'000 + 571 * k; });
    EXPECT_EQ(computed_ms(r, 1), 8 * 30) << r.path();
}

/// They take 8 ms from the end of what rank 1 computes, and rank 0 waits for 2 to 3 ms before that.
TEST(LateProgress, WhatStandsStillForLessThanItTakesIsNotLearnedEither)
{
    const Replayed r = rounds([](std::int64_t k) { return Round{3'000 + 100 * k, 1'000, 11'000 + 100 * k}; });
    EXPECT_EQ(computed_ms(r, 1), 8 * 3 + 2) << r.path();
}

/// They take 10 ms from the time when they were sent, wherever rank 1 is.
TEST(LateProgress, WhatTakesAsLongWhoeverIsOutsideMovesOnByItself)
{
    const Replayed r = rounds([](std::int64_t k) { return Round{3'000 + 500 * k, 1'000, 11'000}; });
    EXPECT_EQ(computed_ms(r, 1), 0) << r.path();
    EXPECT_EQ(r.fact("low_confidence_ns"), 0) << r.path();
}

/// So they do, in 20 ms; of three rank 1 sees the end.
TEST(LateProgress, AFewThatCameLateAreNotTakenForAll)
{
    const Replayed r = rounds([](std::int64_t k) { return Round{k % 3 == 0 ? 25'000 : 40'000, 10'000, 30'000}; });
    EXPECT_EQ(computed_ms(r, 1), 0) << r.path();
    EXPECT_EQ(r.fact("low_confidence_ns"), 0) << r.path();
}

/// Rank 0 is done with it before rank 1 asks for it, which then takes `asked`: that is not what a transfer takes.
void expect_it_was_there(std::int64_t asked)
{
    Program p(2);
    constexpr std::uint64_t bytes = 16 << 20;
    constexpr std::int64_t rounds = 8, round = 60'000;
    for (std::int64_t k = 0; k < rounds; ++k) {
        const std::int64_t t = k * round;
        const Request received = p[1].irecv({t, t + 1}, 0, bytes);
        p[0].send({t + 10'000, t + 25'000}, 1, bytes);
        p[1].wait({t + 30'000, t + 30'000 + asked}, received);
        for (int r = 0; r < 2; ++r)
            p[r].collective(FunctionId::MPI_Barrier, {r == 0 ? t + round - 10 : t + 35'000, t + round});
    }
    p.finish(rounds * round + 10);
    const Replayed r = replay(p);
    EXPECT_EQ(computed_ms(r, 1), 0) << r.path();
    EXPECT_EQ(r.fact("low_confidence_ns"), 0) << r.path();
}

TEST(LateProgress, WhatIsThereAtOnceHasNotStoodStill)
{
    expect_it_was_there(1);
    expect_it_was_there(1'000);
}

/// The second message took longer than the first, as if it had lain at its sender until that came back; but a small
/// message seldom does, and not much is to be explained.
TEST(LateProgress, OfASmallMessageASmallDelayIsNoProof)
{
    Program p(2);
    const Request first = p[0].isend({10, 11}, 1, 8);
    p[1].recv({12, 20}, 0, 8);
    p[0].wait({30, 31}, first);
    const Request second = p[0].isend({1000, 1001}, 1, 8);
    p[1].recv({1002, 1022}, 0, 8);
    p[0].wait({1012, 1013}, second);
    p[1].finish(2000);
    p[0].finish(1500);
    EXPECT_EQ(path(p), "compute 0: 0-10 | mpi 0: 10-11 | compute 0: 11-30 | mpi 0: 30-31 | compute 0: 31-1000 | "
                       "transfer 0>1: 1000-1022 | compute 1: 1022-2000");
}

/// A ring that exchanges something while it computes. A small send is held until its receiver is in MPI, so that rank
/// 0 waits for rank 2: not for what rank 1 sends, which was there long before.
TEST(LateProgress, WhatHoldsUpASendIsNotTheTimeOfWhatIsReceivedMeanwhile)
{
    for (const std::uint64_t bytes : {8, 2000}) {
        Program p(3);
        for (std::int64_t t = 0; t < 80'000; t += 8000) {
            const bool is_odd = t % 16'000 != 0;
            const std::int64_t enter[] = {t + 2000, t + 2001, t + 6000};
            const std::int64_t leave[] = {t + 6012, t + 2009, t + (is_odd ? 6015 : 6005)};
            for (int r = 0; r < 3; ++r) {
                const Request received = p[r].irecv({t + r, t + r + 1}, (r + 1) % 3, bytes);
                const Request sent = p[r].isend({t + r + 2, t + r + 3}, (r + 2) % 3, bytes);
                p[r].waitall({enter[r], leave[r]}, {received, sent});
                p[r].collective(FunctionId::MPI_Barrier, {leave[r] + 1, t + 6021});
            }
        }
        p.finish(80'000);
        const Replayed r = replay(p);
        std::int64_t computed = 0;
        for (const model::Segment& s : r.segments)
            if (static_cast<model::SegmentKind>(s.kind) == model::SegmentKind::Compute && s.location == 2)
                computed += s.end - s.begin;
        EXPECT_GE(computed, 10 * 5'990'000) << bytes;
    }
}

/// Whoever is back takes what came meanwhile, one after the other: long after that for one message, and yet for it.
TEST(LateProgress, AmongManyMessagesOneMayTakeLonger)
{
    Program p(2);
    p[0].send({0, 2}, 1, 8);
    p[1].recv({0, 4}, 0, 8);
    p[0].send({10, 100'130}, 1, 8);
    p[1].call(FunctionId::MPI_Request_get_status, {100'000, 100'001});
    p[1].recv({100'200, 100'204}, 0, 8);
    p[1].finish(100'300);
    p[0].finish(100'400);
    EXPECT_EQ(path(p), "mpi 1: 0-4 | compute 1: 4-100000 | transfer? 1>0: 100000-100130 | compute 0: 100130-100400");
}

/// The receiver came 21 us later than the post explains, and 100 us after the sender was back: if clocks tell that
/// much.
TEST(LateProgress, WhatClocksCannotTellIsNoProof)
{
    const auto found = [](std::int64_t uncertainty) {
        Program p(2);
        p.clocks({0, 1}, {0, uncertainty});
        show_large_transfer(p);
        p[1].recv({105, 231}, 0, large_bytes);
        const Request sent = p[0].issend({110, 111}, 1, large_bytes);
        p[0].wait({131, 231}, sent);
        p[1].finish(700);
        p[0].finish(650);
        return path(p);
    };
    EXPECT_THAT(found(2), testing::HasSubstr("compute 0: 111-131 | transfer? 0>1: 131-231 | compute 1: 231-700"));
    EXPECT_THAT(found(11), testing::HasSubstr("compute 0: 100-110 | transfer? 0>1: 110-231 | compute 1: 231-700"));
}

/// Who asks each of them again about all others takes half an hour.
TEST(LateProgress, AWaitForManyMessagesTakesNoLongerThanTheyAreMany)
{
#ifdef CRITPATH_SANITIZED
    constexpr int many = 1'000;  // there, each step takes a hundred times as long
#else
    constexpr int many = 200'000;
#endif
    Program p(2);
    std::vector<Request> received;
    for (int i = 0; i < many; ++i)
        received.push_back(p[1].irecv({2 * i, 2 * i + 1}, 0, 8, i));
    for (int i = 0; i < many; ++i)
        p[0].send({3 * many + 2 * i, 3 * many + 2 * i + 1}, 1, 8, i);
    p[1].waitall({2 * many, 5 * many + 50}, received);  // 51 us too late
    p[1].finish(5 * many + 100);
    p[0].finish(5 * many + 60);
    const auto piece = [](const char* name, int begin, int end) {
        return std::string(" | ") + name + ": " + std::to_string(begin) + "-" + std::to_string(end);
    };
    // All processes together, and not each once more by itself: this takes long enough.
    const replayer::Replay loaded = load(p, MPI_COMM_WORLD, replayer::Rules::Arrival);
    const Replayed together = replay(loaded);
    if (loaded.rank != 0)
        return;
    EXPECT_THAT(together.path(), testing::EndsWith(piece("transfer 0>1", 5 * many - 2, 5 * many + 50) +
                                                   piece("compute 1", 5 * many + 50, 5 * many + 100)));
}

}  // namespace
}  // namespace critpath::tests

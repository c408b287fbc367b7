// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One test a row of the table of point-to-point rules (docs/ALGORITHM, "Point-to-point"): a program in a few lines, and
// the path that it has. Times are in us. Calls up to 5 us count as having waited only where a send within them says so.
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace critpath::tests
{
namespace
{

using replayer::Rules;

TEST(Messages, LateSenderIsOnThePathAndTheWaitIsNot)
{
    Program p(2);
    p[0].send({50, 51}, 1);
    p[1].recv({10, 53}, 0);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 0: 0-50 | transfer 0>1: 50-53 | compute 1: 53-80");
    EXPECT_EQ(path(p, Rules::Enter), path(p));
    EXPECT_EQ(path(p, Rules::Paper), path(p));
}

TEST(Messages, EarlySenderIsOffThePath)
{
    Program p(2);
    p[0].send({10, 11}, 1);
    p[1].recv({50, 52}, 0);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 1: 0-50 | mpi 1: 50-52 | compute 1: 52-80");
}

// The receive was entered while the message was on its way: what the receiver did before has slack.
TEST(Messages, MessageInFlightLeadsToTheSender)
{
    Program p(2);
    p[0].send({10, 11}, 1);
    p[1].recv({12, 60}, 0);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 0: 0-10 | transfer 0>1: 10-60 | compute 1: 60-80");
    EXPECT_EQ(path(p, Rules::Enter), "compute 1: 0-12 | mpi 1: 12-60 | compute 1: 60-80");
    EXPECT_EQ(path(p, Rules::Paper), path(p));
}

// All receives wait, for less than what a call may cost: after the send, they needed no more than 1 us.
TEST(Messages, AShortWaitIsOneIfItsSendCameLate)
{
    for (const bool has_requests : {false, true}) {
        Program p(2);
        std::string expected;
        std::int64_t time = 10;
        for (int k = 0; k < 10; ++k) {
            const int worker = k % 2, waiter = 1 - worker;
            p[worker].send({time + 4, time + 4}, waiter);
            if (has_requests)
                p[waiter].wait({time, time + 5}, p[waiter].irecv({time, time}, worker));
            else
                p[waiter].recv({time, time + 5}, worker);
            expected += fmt::format("compute {}: {}-{} | transfer {}>{}: {}-{} | ", worker, k > 0 ? time : 0, time + 4,
                                    worker, waiter, time + 4, time + 5);
            time += 5;
        }
        p[0].finish(time + 10);
        p.finish(time);
        EXPECT_EQ(path(p), expected + fmt::format("compute 0: {}-{}", time, time + 10)) << has_requests;
    }
}

// What one call that came early needed after the send is no bound for those whose messages were there: these have to be
// copied from where they lay.
TEST(Messages, AShortRestIsNoCostWhereMostMessagesWereThere)
{
    Program p(2);
    p[0].send({5, 5}, 1);
    p[1].recv({0, 6}, 0);
    std::string expected = "compute 0: 0-5 | transfer 0>1: 5-6 | compute 1: 6-20 | ";
    for (std::int64_t k = 0; k < 3; ++k) {
        const std::int64_t enter = 20 + 5 * k;
        p[0].send({7 + k, 7 + k}, 1);
        p[1].recv({enter, enter + 4}, 0);
        expected +=
            fmt::format("mpi 1: {}-{} | compute 1: {}-{}", enter, enter + 4, enter + 4, k < 2 ? enter + 5 : 100);
        expected += k < 2 ? " | " : "";
    }
    p[0].finish(50);
    p[1].finish(100);
    EXPECT_EQ(path(p), expected);
}

// A probe that was over before the message was sent has not found it, whatever the trace seems to say.
TEST(Messages, AProbeDoesNotFindWhatIsSentLater)
{
    Program p(2);
    p[1].probe({10, 40}, 0);
    p[1].send({42, 42}, 0);
    p[0].recv({5, 43}, 1);
    p[0].send({50, 50}, 1);
    p[1].recv({45, 53}, 0);
    p[0].finish(60);
    p[1].finish(80);
    EXPECT_EQ(path(p),
              "compute 1: 0-10 | delay? 1: 10-40 | compute 1: 40-42 | transfer 1>0: 42-43 | compute 0: 43-50 | "
              "transfer 0>1: 50-53 | compute 1: 53-80");
    EXPECT_EQ(replay(p).fact("clock_violations"), 0);
}

/// A small send, too, may be held until its receiver is in MPI. Who was there before did not hold it up.
TEST(Messages, SmallMessagesOverASlowLinkTakeTheirTimeThoughTheirSendsAreCompletedWithThem)
{
    Program p(2);
    p.nodes({"a", "b"});
    for (std::int64_t step = 0; step < 20; ++step)
        for (int r = 0; r < 2; ++r) {
            const std::int64_t t = 102 * step;
            const std::int64_t computed = 20 + 37 * (step + 7 * r) % 71;
            const Request received = p[r].irecv({t, t + 1}, 1 - r, 8);
            const Request sent = p[r].isend({t + 1, t + 2}, 1 - r, 8);
            p[r].waitall({t + 2 + computed, t + 101}, {received, sent});
        }
    p.finish(102 * 20);
    const Replayed r = replay(p);
    std::int64_t transferred = 0;
    for (const model::Segment& s : r.segments)
        if (static_cast<model::SegmentKind>(s.kind) == model::SegmentKind::Transfer)
            transferred += s.end - s.begin;
    EXPECT_EQ(transferred, 20 * 100'000);
}

/// A send that is held for seconds hides what is received meanwhile, however long its receiver has stayed away.
TEST(Messages, ASendThatIsHeldForSecondsDoesNotTellWhatATransferTakes)
{
    constexpr std::int64_t s = 1'000'000;
    Program p(3);
    for (int step = 0; step < 8; ++step) {
        const std::int64_t t = 10 * s * step;
        const std::int64_t enter[] = {t + 3 * s, t + 3 * s + 1, t + 8 * s};
        const std::int64_t leave[] = {t + 8 * s + 12, t + 3 * s + 9, t + 8 * s + 10};
        for (int r = 0; r < 3; ++r) {
            const Request received = p[r].irecv({t + r, t + r + 1}, (r + 1) % 3, 8);
            const Request sent = p[r].isend({t + r + 2, t + r + 3}, (r + 2) % 3, 8);
            p[r].waitall({enter[r], leave[r]}, {received, sent});
            p[r].collective(FunctionId::MPI_Barrier, {leave[r] + 1, t + 8 * s + 20});
        }
    }
    p.finish(80 * s);
    const Replayed r = replay(p);
    std::int64_t computed = 0;
    for (const model::Segment& segment : r.segments)
        if (static_cast<model::SegmentKind>(segment.kind) == model::SegmentKind::Compute && segment.location == 2)
            computed += segment.end - segment.begin;
    EXPECT_GE(computed, 8 * (8 * s - 20) * 1000);
}

// The first message shows that a transfer takes 2 us. The second was there long before the receive.
TEST(Messages, LongReceiveOfAMessageThatWasThereIsADelay)
{
    Program p(2);
    p[0].send({10, 11}, 1);
    p[0].send({20, 21}, 1);
    p[1].recv({2, 12}, 0);
    p[1].recv({30, 70}, 0);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 0: 0-10 | transfer 0>1: 10-12 | compute 1: 12-30 | delay? 1: 30-70 | compute 1: 70-80");
}

// Nothing is in doubt where that is all time without a processor, up to its end.
TEST(Messages, WhatACallLacksAProcessorForExplainsItself)
{
    const auto ends = [](std::int64_t sent, Span off) {
        Program p(2);
        p[0].send({10, 11}, 1);
        p[0].send({sent, sent + 1}, 1);
        p[1].recv({2, 12}, 0);
        p[1].recv({30, 500}, 0);
        p[1].off(off, true);
        p.finish(510);
        const std::string all = path(p);
        return all.substr(all.find("compute 1: 12-30") == std::string::npos ? all.find("compute 0: 11")
                                                                            : all.find("compute 1: 12-30"));
    };
    EXPECT_EQ(ends(20, {34, 495}), "compute 1: 12-30 | delay 1: 30-500 | compute 1: 500-510");
    EXPECT_EQ(ends(20, {34, 300}), "compute 1: 12-30 | delay? 1: 30-500 | compute 1: 500-510");
    EXPECT_EQ(ends(100, {34, 495}),
              "compute 0: 11-100 | transfer 0>1: 100-102 | delay 1: 102-500 | compute 1: 500-510");
    EXPECT_EQ(ends(100, {34, 300}), "compute 0: 11-100 | transfer? 0>1: 100-500 | compute 1: 500-510");
}

// A message that lay there while its receiver computed says little about the time that messages take: rank 1 has had
// nothing but such ones, and its MPI_Wait is long for another reason.
TEST(Messages, MessagesThatNobodyWaitedForDoNotTellWhatATransferTakes)
{
    Program p(2);
    for (const int step : {0, 10'100}) {
        const Request received = p[1].irecv({step, step + 1}, 0, 8);
        p[0].send({step + 1, step + 2}, 1, 8);
        p[1].wait({step + 10'000, step + 10'050}, received);
    }
    p[0].finish(20'100);
    p[1].finish(20'200);
    EXPECT_EQ(path(p), "mpi 1: 0-1 | compute 1: 1-10000 | delay? 1: 10000-10050 | compute 1: 10050-10100 | "
                       "mpi 1: 10100-10101 | compute 1: 10101-20100 | delay? 1: 20100-20150 | compute 1: 20150-20200");
}

// The message of rank 2 lay there, although the call did nothing but wait.
TEST(Messages, OfSeveralMessagesThatACallWaitedForTheLastOneTellsWhatATransferTakes)
{
    Program p(3);
    const Request last = p[1].irecv({0, 1}, 0, 8);
    const Request first = p[1].irecv({1, 2}, 2, 4096);
    p[0].send({10, 11}, 1, 8, 1);
    p[1].recv({3, 12}, 0, 8, 1);  // 2 us, of 3 below
    p[2].send({2'000, 2'001}, 1, 4096);
    p[0].send({40'000, 40'001}, 1, 8);
    p[1].waitall({15, 40'003}, {last, first});
    p[1].finish(50'000);
    p.finish(45'000);
    EXPECT_EQ(path(p), "compute 0: 0-10 | mpi 0: 10-11 | compute 0: 11-40000 | transfer 0>1: 40000-40003 | "
                       "compute 1: 40003-50000");
}

// Nor does it tell where the call waited for a receiver.
TEST(Messages, ReceiversThatCameLaterTellThatAMessageLayThere)
{
    Program p(3);
    const Request early = p[1].irecv({1, 2}, 2, 4096);
    const Request late = p[1].isend({3, 4}, 0, 1 << 20);
    p[2].send({2'000, 2'001}, 1, 4096);
    p[0].recv({40'000, 40'050}, 1, 1 << 20);
    p[1].waitall({5, 40'050}, {early, late});
    p[1].finish(50'000);
    p.finish(45'000);
    EXPECT_EQ(path(p), "compute 0: 0-40000 | transfer 0>1: 40000-40050 | compute 1: 40050-50000");
}

TEST(Messages, SlowTransferIsATransferOfLowConfidence)
{
    Program p(2);
    p[0].send({10, 11}, 1);
    p[0].send({30, 31}, 1);
    p[1].recv({2, 20}, 0);
    p[1].recv({41, 60}, 0);  // expected at 40, but 30 us are within four times the usual 10
    p.finish(80);
    EXPECT_EQ(path(p), "compute 0: 0-10 | mpi 0: 10-11 | compute 0: 11-30 | transfer? 0>1: 30-60 | compute 1: 60-80");
}

// 8 bytes take 2 us, 4096 bytes 100 us. The large message was sent first and arrives last.
TEST(Messages, WaitallIsReleasedByTheLastArrivalNotTheLastSend)
{
    Program p(3);
    p[0].send({20, 21}, 2, 4096);
    p[1].send({60, 61}, 2, 8);
    const Request a = p[2].irecv({1, 2}, 0, 4096);
    const Request b = p[2].irecv({3, 4}, 1, 8);
    p[2].waitall({10, 120}, {a, b});
    p[1].send({130, 131}, 2, 8);
    p[2].recv({125, 132}, 1, 8);
    p.finish(140);
    EXPECT_EQ(path(p), "compute 1: 0-60 | mpi 1: 60-61 | compute 1: 61-130 | transfer 1>2: 130-132 | "
                       "compute 2: 132-140");
    Program q(3);  // now it takes 100 us, as another one shows
    q[0].send({10, 11}, 1, 4096);
    q[1].recv({2, 110}, 0, 4096);
    q[0].send({220, 221}, 2, 4096);
    q[1].send({260, 261}, 2, 8);
    const Request c = q[2].irecv({1, 2}, 0, 4096);
    const Request d = q[2].irecv({3, 4}, 1, 8);
    q[2].waitall({210, 320}, {c, d});
    q[1].send({321, 322}, 0, 8);
    q[0].recv({310, 323}, 1, 8);
    q.finish(340);
    EXPECT_EQ(path(q),
              "compute 0: 0-10 | mpi 0: 10-11 | compute 0: 11-220 | transfer 0>2: 220-320 | compute 2: 320-340");
    EXPECT_EQ(path(q, Rules::Enter), "compute 0: 0-10 | transfer 0>1: 10-110 | compute 1: 110-260 | "
                                     "transfer 1>2: 260-320 | compute 2: 320-340");
}

TEST(Messages, WaitanyIsReleasedByWhatItCompleted)
{
    Program p(3);
    p[0].send({70, 71}, 2);
    p[1].send({30, 31}, 2);
    const Request late = p[2].irecv({1, 2}, 0);
    const Request early = p[2].irecv({3, 4}, 1);
    p[2].waitany({5, 33}, early);
    p[2].wait({90, 91}, late);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 1: 0-30 | transfer 1>2: 30-33 | compute 2: 33-90 | mpi 2: 90-91 | compute 2: 91-100");
}

TEST(Messages, WaitsomeIsReleasedByTheFirstOfThoseItCompleted)
{
    Program p(3);
    p[0].send({32, 33}, 2);
    p[1].send({30, 31}, 2);
    const Request second = p[2].irecv({1, 2}, 0);
    const Request first = p[2].irecv({3, 4}, 1);
    p[2].waitsome({5, 36}, {second, first});
    p.finish(100);
    EXPECT_EQ(path(p), "compute 1: 0-30 | transfer 1>2: 30-36 | compute 2: 36-100");
}

// A synchronous send was there first, so the transfer began when the receive was posted: by the waiting rank itself.
TEST(Messages, OwnPostThatStartsATransferTakesThePathHome)
{
    Program p(2);
    p[0].ssend({10, 90}, 1);
    const Request r = p[1].irecv({30, 31}, 0);
    p[1].wait({50, 88}, r);
    p.finish(100);
    // Both end at 100, and rank 1 is the larger. Its computation from 31 to 50 overlaps the transfer.
    EXPECT_EQ(path(p), "compute 1: 0-30 | transfer 1: 30-88 | compute 1: 88-100");
}

TEST(Messages, SynchronousSendWaitsForThePostOfTheReceive)
{
    Program p(2);
    p[0].ssend({10, 62}, 1);
    const Request r = p[1].irecv({60, 61}, 0);
    p[1].wait({70, 71}, r);
    p[0].send({90, 91}, 1);
    p[1].recv({75, 93}, 0);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 1: 0-60 | transfer 1>0: 60-62 | compute 0: 62-90 | transfer 0>1: 90-93 | "
                       "compute 1: 93-100");
}

TEST(Messages, LateReceiverOfAMessageAboveTheLearnedEagerLimit)
{
    Program p(2);
    p[0].send({5, 6}, 1, 1024);    // over before its receive is posted: 1024 bytes are buffered
    p[0].send({20, 72}, 1, 4096);  // was not: it met its receiver
    p[1].recv({60, 61}, 0, 1024);
    p[1].recv({70, 73}, 0, 4096);
    p[1].finish(119);
    p.finish(120);
    EXPECT_EQ(path(p), "compute 1: 0-60 | mpi 1: 60-61 | compute 1: 61-70 | transfer 1>0: 70-72 | compute 0: 72-120");
    Program q(2);
    q[0].send({5, 6}, 1, 1024);
    q[0].send({80, 95}, 1, 1024);  // long, and its receive came later, but what is buffered waits for nobody
    q[1].recv({60, 61}, 0, 1024);
    q[1].recv({90, 91}, 0, 1024);
    q[1].finish(119);
    q.finish(120);
    EXPECT_EQ(path(q), "compute 0: 0-5 | mpi 0: 5-6 | compute 0: 6-80 | delay? 0: 80-95 | compute 0: 95-120");
}

/// A message of 2000 bytes is taken out of the sender's memory when the receiver is in MPI, at whatever it is there.
void show_buffered(Program& p)
{
    p[0].send({0, 2}, 1, 2000);
    p[1].recv({0, 2}, 0, 2000);
    p[0].send({10, 12}, 1, 2000);
    p[1].call(FunctionId::MPI_Request_get_status, {9, 13});
    p[1].recv({20, 22}, 0, 2000);
}

TEST(Messages, SendThatTheReceiverHasToTakeWaitsForIt)
{
    Program p(2);
    show_buffered(p);  // over before its receive was posted; but the receiver was in MPI
    p[0].send({30, 510}, 1, 2000);
    p[1].recv({500, 510}, 0, 2000);
    p[0].finish(900);
    p[1].finish(800);
    EXPECT_EQ(path(p), "mpi 1: 0-2 | compute 1: 2-9 | mpi 1: 9-13 | compute 1: 13-20 | mpi 1: 20-22 | "
                       "compute 1: 22-500 | transfer? 1>0: 500-510 | compute 0: 510-900");
}

TEST(Messages, SendThatIsKnownToWaitForNobodyIsSlowByItself)
{
    Program p(2);
    show_buffered(p);
    p[0].send({30, 32}, 1, 2000);  // over while the receiver computes
    p[1].recv({40, 42}, 0, 2000);
    p[0].send({50, 510}, 1, 2000);
    p[1].recv({400, 510}, 0, 2000);
    p[0].finish(900);
    p[1].finish(800);
    EXPECT_EQ(path(p), "mpi 0: 0-2 | compute 0: 2-10 | mpi 0: 10-12 | compute 0: 12-30 | mpi 0: 30-32 | "
                       "compute 0: 32-50 | delay? 0: 50-510 | compute 0: 510-900");
}

TEST(Messages, ReceiverThatComesEarlyInALongSendIsNotItsReason)
{
    Program p(2);
    show_buffered(p);
    p[0].send({30, 510}, 1, 2000);
    p[1].recv({100, 110}, 0, 2000);
    p[0].finish(900);
    p[1].finish(800);
    EXPECT_EQ(path(p), "mpi 0: 0-2 | compute 0: 2-10 | mpi 0: 10-12 | compute 0: 12-30 | delay? 0: 30-510 | "
                       "compute 0: 510-900");
}

TEST(Messages, BufferedSendNeverWaits)
{
    Program p(2);
    p[0].bsend({20, 72}, 1, 4096);
    p[1].recv({70, 73}, 0, 4096);
    p[1].finish(119);
    p.finish(120);
    EXPECT_EQ(path(p), "compute 0: 0-20 | delay? 0: 20-72 | compute 0: 72-120");
}

// What is small is sent at once; what meets its receiver stands in the buffer until then.
TEST(Messages, DetachingTheBufferWaitsForTheReceiversOfWhatIsInIt)
{
    Program p(3);
    p[0].bsend({5, 6}, 1, 4096);
    p[0].bsend({7, 8}, 2, 64);
    p[0].call(FunctionId::MPI_Buffer_detach, {20, 72});
    p[0].bsend({75, 76}, 1, 4096);  // in the next buffer
    p[1].recv({70, 73}, 0, 4096);
    p[1].recv({80, 82}, 0, 4096);
    p[2].recv({71, 72}, 0, 64);
    p[0].finish(120);
    p.finish(110);
    EXPECT_EQ(path(p), "compute 1: 0-70 | transfer 1>0: 70-72 | compute 0: 72-75 | mpi 0: 75-76 | compute 0: 76-120");
}

TEST(Messages, DetachingTheBufferWaitsForTheLastReceiver)
{
    Program p(3);
    p[0].bsend({5, 6}, 1, 4096);
    p[0].bsend({7, 8}, 2, 4096);
    p[0].call(FunctionId::MPI_Buffer_detach, {20, 72});
    p[1].recv({70, 73}, 0, 4096);
    p[2].recv({50, 53}, 0, 4096);
    p[0].finish(120);
    p.finish(110);
    EXPECT_EQ(path(p), "compute 1: 0-70 | transfer 1>0: 70-72 | compute 0: 72-120");
}

// A buffer that could be detached before a message of 4096 bytes was received has shown that such ones do not wait.
TEST(Messages, DetachingTheBufferTellsWhatLeavesItAtOnce)
{
    for (const bool has_shown : {false, true}) {
        Program p(3);
        p[0].bsend({5, 6}, 2, 4096);
        p[0].call(FunctionId::MPI_Buffer_detach, {has_shown ? 7 : 13, 14});
        p[2].recv({has_shown ? 16 : 12, 18}, 0, 4096);
        p[0].bsend({20, 21}, 1, 60'000);
        p[0].bsend({22, 23}, 2, 4096);
        p[0].call(FunctionId::MPI_Buffer_detach, {30, 172});
        p[1].recv({150, 173}, 0, 60'000);
        p[2].recv({170, 172}, 0, 4096);
        p[0].finish(220);
        p.finish(210);
        const std::string found = path(p);
        if (has_shown)
            EXPECT_THAT(found, testing::HasSubstr("compute 1: 0-150 | transfer 1>0: 150-172 | compute 0: 172-220"));
        else
            EXPECT_THAT(found, testing::HasSubstr("170 | transfer 2>0: 170-172 | compute 0: 172-220"));
    }
}

TEST(Messages, SendrecvWaitsForItsReceiveOrItsSend)
{
    Program p(2);
    p[0].sendrecv({10, 53}, 1, 1);
    p[1].sendrecv({50, 52}, 0, 0);
    p[1].finish(70);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 1: 0-50 | transfer 1>0: 50-53 | compute 0: 53-80");
}

TEST(Messages, ProbeWaitsForTheSendItReports)
{
    Program p(2);
    p[0].send({50, 51}, 1);
    p[1].probe({10, 53}, 0);
    p[1].recv({54, 55}, 0);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 0: 0-50 | transfer 0>1: 50-53 | compute 1: 53-54 | mpi 1: 54-55 | compute 1: 55-80");
}

// The probe takes the first message of the channel, although it is received after the second.
TEST(Messages, MatchedProbeTakesItsMessageOutOfTheQueue)
{
    Program p(2);
    p[0].send({50, 51}, 1);
    p[0].send({70, 71}, 1);
    const Probed message = p[1].mprobe({10, 53});
    p[1].recv({55, 73}, 0);
    p[1].mrecv({75, 76}, message, 0);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 0: 0-50 | mpi 0: 50-51 | compute 0: 51-70 | transfer 0>1: 70-73 | compute 1: 73-75 | "
                       "mpi 1: 75-76 | compute 1: 76-80");
    Program q(2);
    q[0].send({50, 51}, 1);
    const Probed found = q[1].mprobe({10, 53});
    const Request r = q[1].imrecv({54, 55}, found, 0);
    q[1].wait({56, 57}, r);
    q.finish(80);
    EXPECT_EQ(path(q), "compute 0: 0-50 | transfer 0>1: 50-53 | compute 1: 53-54 | mpi 1: 54-55 | compute 1: 55-56 | "
                       "mpi 1: 56-57 | compute 1: 57-80");
}

TEST(Messages, PersistentRequestsArePostedByTheirStart)
{
    Program p(2);
    p[0].start_send({20, 21}, 1);
    p[0].start_send({60, 61}, 1);
    const Request first = p[1].start_recv({5, 6}, 0);
    p[1].wait({7, 23}, first);
    const Request second = p[1].start_recv({24, 25}, 0);
    p[1].wait({26, 63}, second);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 0: 0-20 | mpi 0: 20-21 | compute 0: 21-60 | transfer 0>1: 60-63 | compute 1: 63-80");
}

// Both receives are posted with wildcards; the second completes first in program order of the waits.
TEST(Messages, WildcardsMatchInPostingOrder)
{
    Program p(2);
    p[0].send({20, 21}, 1);
    p[0].send({60, 61}, 1);
    const Request first = p[1].irecv({1, 2}, 0);
    const Request second = p[1].irecv({3, 4}, 0);
    p[1].wait({10, 63}, second);
    p[1].wait({64, 65}, first);
    p.finish(80);
    EXPECT_EQ(path(p), "compute 0: 0-20 | mpi 0: 20-21 | compute 0: 21-60 | transfer 0>1: 60-63 | compute 1: 63-64 | "
                       "mpi 1: 64-65 | compute 1: 65-80");
}

TEST(Messages, TagsAndSourcesAreChannelsOfTheirOwn)
{
    Program p(3);
    p[0].send({10, 11}, 2, 8, 7);
    p[0].send({50, 51}, 2, 8, 8);
    p[1].send({20, 21}, 2, 8, 8);
    p[2].recv({5, 53}, 0, 8, 8);
    p[2].recv({54, 55}, 0, 8, 7);
    p[2].recv({56, 57}, 1, 8, 8);
    p.finish(60);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 0: 0-10 | mpi 0: 10-11 | compute 0: 11-50 | transfer 0>2: 50-53 | compute 2: 53-54 | "
                        "mpi 2: 54-55 | compute 2: 55-56 | mpi 2: 56-57 | compute 2: 57-60");
    EXPECT_EQ(r.fact("messages"), 3);
}

TEST(Messages, CancelledReceiveTakesNoMessage)
{
    Program p(2);
    const Request cancelled = p[1].irecv({1, 2}, 0);
    p[1].wait_cancelled({3, 4}, cancelled);
    p[0].send({50, 51}, 1);
    p[1].recv({10, 53}, 0);
    p.finish(80);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 0: 0-50 | transfer 0>1: 50-53 | compute 1: 53-80");
    EXPECT_EQ(r.fact("cancelled_receives"), 1);
    EXPECT_EQ(r.fact("unmatched_receives"), 0);
}

/// "0>1 by 1": from and to whom the messages on the path go, and who waited for them.
std::string messages_on(const Program& p)
{
    std::vector<std::string> words;
    for (const model::Segment& s : replay(p).segments)
        if (static_cast<model::SegmentKind>(s.kind) == model::SegmentKind::Transfer)
            words.push_back(fmt::format("{}>{} by {}", s.source(), s.destination(), s.location));
    return fmt::format("{}", fmt::join(words, ", "));
}

TEST(Messages, APathGoesAlongAMessageOrAgainstIt)
{
    constexpr std::uint64_t large = 100'000;
    Program late_sender(2);
    late_sender[0].send({50, 51}, 1);
    late_sender[1].recv({10, 53}, 0);
    late_sender.finish(100);
    EXPECT_EQ(messages_on(late_sender), "0>1 by 1");

    Program late_receiver(2);
    late_receiver[0].ssend({10, 53}, 1);
    late_receiver[1].recv({50, 52}, 0);
    late_receiver[0].finish(100);
    late_receiver[1].finish(90);
    EXPECT_EQ(messages_on(late_receiver), "0>1 by 0");

    // Its own post came last; what it waited for came from the other rank all the same, or goes there.
    Program own(2);
    own[0].ssend({0, 100}, 1, large);
    own[1].recv({0, 100}, 0, large);
    const Request sent = own[0].issend({110, 111}, 1, large);
    const Request received = own[1].irecv({120, 121}, 0, large);
    own[1].wait({125, 220}, received);
    own[0].wait({230, 231}, sent);
    own[1].finish(400);
    own[0].finish(300);
    EXPECT_EQ(messages_on(own), "0>1 by 1");
    EXPECT_EQ(path(own), "mpi 1: 0-100 | compute 1: 100-120 | transfer 1: 120-220 | compute 1: 220-400");
}

TEST(Messages, MessageToSelf)
{
    Program p(2);
    const Request r = p[1].on(Program::self()).irecv({10, 11}, 0);
    p[1].send({20, 21}, 0);
    p[1].wait({30, 60}, r);
    p.finish(80);
    const Replayed replayed = replay(p);
    // In flight at the wait: the path goes to the own send.
    EXPECT_EQ(replayed.path(), "compute 1: 0-10 | mpi 1: 10-11 | compute 1: 11-20 | transfer 1: 20-60 | "
                               "compute 1: 60-80");
    EXPECT_EQ(replayed.fact("messages"), 1);
}

TEST(Messages, InterCommunicatorRanksAreThoseOfTheRemoteGroup)
{
    Program p(4);
    const auto inter = p.intercomm({0, 1}, {2, 3});
    p[1].on(inter).send({50, 51}, 1);  // to rank 1 of the other side: process 3
    p[3].on(inter).recv({10, 53}, 1);  // from rank 1 of the other side: process 1
    p.finish(80);
    EXPECT_EQ(path(p), "compute 1: 0-50 | transfer 1>3: 50-53 | compute 3: 53-80");
}

TEST(Messages, UnmatchedOperationsAreCountedAndNotWaitedFor)
{
    Program p(2);
    p[0].send({10, 11}, 1, 8, 1);
    p[1].recv({20, 60}, 0, 8, 2);
    p.finish(80);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 1: 0-20 | delay? 1: 20-60 | compute 1: 60-80");
    EXPECT_EQ(r.fact("unmatched_sends"), 1);
    EXPECT_EQ(r.fact("unmatched_receives"), 1);
    EXPECT_EQ(r.fact("messages"), 0);
}

TEST(Messages, RanksThatDoNotExistAreUnmatched)
{
    Program p(2);
    p[0].send({10, 11}, 7);
    p[1].recv({20, 60}, 9);
    p.finish(80);
    const Replayed r = replay(p);
    EXPECT_EQ(r.fact("unmatched_sends"), 1);
    EXPECT_EQ(r.fact("unmatched_receives"), 1);
}

// The clock of rank 0 is ahead: its message is received before it was sent.
TEST(Messages, ClockViolationIsClippedAndCounted)
{
    Program p(2);
    p[0].send({70, 71}, 1);
    p[1].recv({10, 53}, 0);
    p.finish(80);
    const Replayed r = replay(p);
    EXPECT_EQ(r.path(), "compute 0: 0-53 | compute 1: 53-80");
    EXPECT_EQ(r.fact("clock_violations"), 1);
    EXPECT_EQ(r.fact("makespan_ns"), 80'000);
}

TEST(Messages, PipelineGoesThroughAllStages)
{
    Program p(4);
    for (int r = 0; r < 4; ++r) {
        const std::int64_t t = 100 * r;
        if (r > 0)
            p[r].recv({1, t + 2}, r - 1);
        if (r < 3)
            p[r].send({t + 100, t + 101}, r + 1);
    }
    p.finish(420);
    EXPECT_EQ(path(p), "compute 0: 0-100 | transfer 0>1: 100-102 | compute 1: 102-200 | transfer 1>2: 200-202 | "
                       "compute 2: 202-300 | transfer 2>3: 300-302 | compute 3: 302-420");
}

}  // namespace
}  // namespace critpath::tests

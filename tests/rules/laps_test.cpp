// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Ranks that do the same work between different calls, each time around.
#include "tests/builder/replayed.hpp"
#include "tests/rules/steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace critpath::tests
{
namespace
{

/// In a ring, the first rank works before it sends, and all others before they receive.
void run_ring(Program& p, int steps, const std::function<std::int64_t(int rank, int step)>& work)
{
    const int ranks = p.ranks();
    std::vector<std::int64_t> time(static_cast<std::size_t>(ranks), 10);
    for (int step = 0; step < steps; ++step) {
        const auto works = [&](int rank) { return time[static_cast<std::size_t>(rank)] += work(rank, step); };
        std::int64_t sent = works(0);
        p[0].send({sent, sent + 1}, 1);
        const std::int64_t received_from = sent + 1;
        for (int rank = 1; rank < ranks; ++rank) {
            const std::int64_t enter = works(rank), come = std::max(enter, sent) + 1;
            p[rank].recv({enter, come}, rank - 1);
            sent = come + 1;
            p[rank].send({sent, sent + 1}, rank + 1 < ranks ? rank + 1 : 0);
            time[static_cast<std::size_t>(rank)] = sent + 1;
        }
        time[0] = std::max(received_from + 1, sent) + 1;
        p[0].recv({received_from + 1, time[0]}, ranks - 1);
    }
    p.finish(*std::ranges::max_element(time) + 1);
}

double times_of_peers(const model::Stretch& s)
{
    return static_cast<double>(s.compared_ns) / static_cast<double>(s.peers_ns);
}

TEST(Laps, WorkBetweenOtherCallsIsFoundInTheSameLap)
{
    for (const int ranks : {2, 3, 5, 8}) {
        Program p(ranks);
        run_ring(p, 40, [](int, int) { return 1000; });
        const Replayed r = replay(p);
        EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
        ASSERT_FALSE(r.profile.stretches.empty());
        for (const model::Stretch& s : r.profile.stretches) {
            if (s.compared > 1) {
                EXPECT_NEAR(times_of_peers(s), 1, 0.03) << ranks << " ranks, " << s.compared << " times";
            }
        }
    }
}

TEST(Laps, WhoWorksLongerTakesLongerByThat)
{
    Program p(5);
    run_ring(p, 40, [](int rank, int) { return rank == 2 ? 1500 : 1000; });
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = stretch(r, "MPI_Send", "MPI_Recv");
    EXPECT_EQ(s.compared_by, static_cast<std::int64_t>(model::ComparedBy::Lap));
    EXPECT_NEAR(times_of_peers(s), 1.5, 0.03);
    EXPECT_EQ(s.slowest_rank, 2);
    EXPECT_GT(rank_share(s), 0.99);
}

/// In a pipeline of two ranks that meet behind some items, the first one has the first of them alone, and the other one
/// the last.
TEST(Laps, TheEndsOfAPipelineAreNotMoreWork)
{
    constexpr std::int64_t work = 1000;
    Program p(2);
    std::int64_t time = 10;
    for (int step = 0; step < 20; ++step) {
        std::int64_t sender = time, receiver = time;
        for (int item = 0; item < 4; ++item) {
            sender += work;
            p[0].send({sender, sender + 1}, 1);
            const std::int64_t come = std::max(receiver, sender) + 2;
            p[1].recv({receiver, come}, 0);
            sender += 1;
            receiver = come + work;
        }
        time = receiver + 2;
        p[0].collective(FunctionId::MPI_Barrier, {sender, time});
        p[1].collective(FunctionId::MPI_Barrier, {receiver, time});
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const auto expect_as_much = [&](const char* before, const char* after, model::ComparedBy by) {
        const model::Stretch s = stretch(r, before, after);
        EXPECT_EQ(s.compared_by, static_cast<std::int64_t>(by)) << before;
        EXPECT_NEAR(times_of_peers(s), 1, 0.03) << before;
    };
    expect_as_much("MPI_Barrier", "MPI_Send", model::ComparedBy::Meetings);  // the first one waits for nobody
    expect_as_much("MPI_Recv", "MPI_Barrier", model::ComparedBy::Lap);
}

/// Rank 0 works before the first operation of a step, the others behind it, and all wait for each other in both: in a
/// lap it is the same work, but while one works the others wait.
TEST(Laps, WhoIsWaitedForIsNotBalancedByOtherTimes)
{
    Program p(4);
    std::int64_t time = 10;
    for (int step = 0; step < 20; ++step) {
        const std::array<std::int64_t, 2> first = {1500, 1000}, second = {100, 600};
        const auto meet = [&](FunctionId function, const std::array<std::int64_t, 2>& work) {
            const std::int64_t leave = time + *std::ranges::max_element(work) + 2;
            for (int rank = 0; rank < 4; ++rank)
                p[rank].collective(function, {time + work[rank == 0 ? 0 : 1], leave});
            time = leave;
        };
        meet(FunctionId::MPI_Allreduce, first);
        meet(FunctionId::MPI_Barrier, second);
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = stretch(r, "MPI_Barrier", "MPI_Allreduce");
    EXPECT_EQ(s.compared_by, static_cast<std::int64_t>(model::ComparedBy::BothCalls));
    EXPECT_EQ(s.peers_ns, s.compared_ns * 2 / 3);
}

/// Likewise, where the other one lacks a processor now, so that it is busy for most of the time.
TEST(Laps, WhereAllMeetInFrontOfWorkAndBehindItPeersAreThere)
{
    Program p(2);
    std::int64_t time = 10;
    for (int step = 0; step < 20; ++step) {
        const std::int64_t middle = time + 5002, end = middle + 5002;
        p[1].off({time + 100, time + 1700}, true);
        p[0].collective(FunctionId::MPI_Allreduce, {time + 5000, middle});
        p[1].collective(FunctionId::MPI_Allreduce, {time + 3600, middle});
        p[0].collective(FunctionId::MPI_Barrier, {middle + 2000, end});
        p[1].collective(FunctionId::MPI_Barrier, {middle + 5000, end});
        time = end;
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = stretch(r, "MPI_Barrier", "MPI_Allreduce");
    EXPECT_EQ(s.compared_by, static_cast<std::int64_t>(model::ComparedBy::BothCalls));
    EXPECT_NEAR(times_of_peers(s), 5.0 / 3.6, 0.01);
}

/// One rank works before the first operation of a step, another one behind it, and makes a call that waits for nobody
/// in the middle. The others do neither: in a lap it is as much work.
TEST(Laps, ACallThatWaitsForNobodyHidesNoWaiting)
{
    for (const int ranks : {2, 4}) {
        Program p(ranks);
        std::int64_t time = 10;
        for (int step = 0; step < 20; ++step) {
            const std::int64_t middle = time + 2002, end = middle + 2002;
            for (int rank = 0; rank < ranks; ++rank)
                p[rank].collective(FunctionId::MPI_Allreduce, {time + (rank == 1 ? 2000 : 400), middle});
            p[0].call(FunctionId::MPI_Pack, {middle + 1200, middle + 1201});
            for (int rank = 0; rank < ranks; ++rank)
                p[rank].collective(FunctionId::MPI_Barrier, {middle + (rank == 0 ? 2001 : 400), end});
            time = end;
        }
        p.finish(time + 1);
        const Replayed r = replay(p);
        EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
        for (const model::Stretch& s :
             {stretch(r, "MPI_Allreduce", "MPI_Pack"), stretch(r, "MPI_Pack", "MPI_Barrier")}) {
            EXPECT_NE(s.compared_by, static_cast<std::int64_t>(model::ComparedBy::Lap)) << ranks;
            EXPECT_NEAR(times_of_peers(s), 5, 0.1) << ranks;
            EXPECT_EQ(s.slowest_rank, 0);
        }
    }
}

/// The same, with a message in the middle that the other rank is there for, or that nobody receives: to send it waits
/// for nobody. So it is one work that the first rank does, five times as much.
TEST(Laps, AMessageThatWaitsForNobodyHidesNoWaiting)
{
    for (const bool is_received : {false, true}) {
        Program p(2);
        std::int64_t time = 10;
        for (int step = 0; step < 20; ++step) {
            const std::int64_t middle = time + 2002, end = middle + 2002;
            for (int rank = 0; rank < 2; ++rank)
                p[rank].collective(FunctionId::MPI_Allreduce, {time + (rank == 1 ? 2000 : 400), middle});
            if (is_received) {
                p[0].send({middle + 1200, middle + 1201}, 1);
                p[1].recv({middle + 398, middle + 1202}, 0);
            } else {
                p[0].call(FunctionId::MPI_Send, {middle + 1200, middle + 1201});
            }
            p[0].collective(FunctionId::MPI_Barrier, {middle + 2001, end});
            p[1].collective(FunctionId::MPI_Barrier, {middle + (is_received ? 1204 : 400), end});
            time = end;
        }
        p.finish(time + 1);
        const Replayed r = replay(p);
        EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
        for (const model::Stretch& s :
             {stretch(r, "MPI_Allreduce", "MPI_Send"), stretch(r, "MPI_Send", "MPI_Barrier")}) {
            EXPECT_EQ(s.compared_by, static_cast<std::int64_t>(model::ComparedBy::Meetings)) << is_received;
            EXPECT_NEAR(times_of_peers(s), 5, 0.1) << is_received;
            EXPECT_EQ(s.slowest_rank, 0);
        }
    }
}

/// All work in front of an operation of all, half of them behind a receive and half of them, who work once more for
/// others, behind a send. One takes twice as long in front of the operation, where it is waited for, whatever the
/// leaders do elsewhere.
TEST(Laps, WhoComesToTheSameOperationFromAnotherCallDoesTheSameWork)
{
    Program p(4);
    std::int64_t time = 10;
    for (int step = 0; step < 30; ++step) {
        const std::int64_t leave = time + 8002;
        for (int rank = 0; rank < 4; ++rank)
            p[rank].collective(FunctionId::MPI_Allreduce, {time + (rank == 3 ? 8000 : 4000), leave});
        for (int leader = 0; leader < 4; leader += 2) {
            p[leader + 1].send({leave + 1, leave + 2}, leader);
            p[leader].recv({leave + 1, leave + 3}, leader + 1);
            p[leader].send({leave + 6003, leave + 6004}, leader + 1);
            p[leader + 1].recv({leave + 3, leave + 6005}, leader);
        }
        time = leave + 6005;
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = stretch(r, "MPI_Recv", "MPI_Allreduce");
    EXPECT_NE(s.compared_by, static_cast<std::int64_t>(model::ComparedBy::Lap));
    EXPECT_NEAR(times_of_peers(s), 2, 0.05);
    EXPECT_EQ(s.slowest_rank, 3);
}

/// Each second time one rank takes longer, so that those that it holds up come late to the next lap, and others wait
/// for these: in the laps that the first rank is on the path in, all have the same work.
TEST(Laps, WhoWaitsSinceOthersWereHeldUpHasNoLessToDo)
{
    Program p(4);
    run_ring(p, 60, [](int rank, int step) { return rank == 2 && step % 2 == 1 ? 4000 : 1000; });
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch first = stretch(r, "MPI_Recv", "MPI_Send");
    EXPECT_LT(first.others_at_work_ns, first.looked_at_ns * 7 / 10);
    EXPECT_EQ(first.compared_by, static_cast<std::int64_t>(model::ComparedBy::Lap));
    EXPECT_NEAR(times_of_peers(first), 1, 0.03);
    EXPECT_NEAR(times_of_peers(stretch(r, "MPI_Send", "MPI_Recv")), 4, 0.1);
}

/// All compute for as long each time, one before it puts and the others behind that, and each of them is on the path by
/// turns: what they take longer at a place cancels what others take less.
TEST(Laps, TurnsThatCancelAreNotUnequalWork)
{
    Program p(3);
    std::int64_t time = 10;
    for (int step = 0; step < 30; ++step) {
        const auto work = [&](int rank) { return 1000 + (step % 3 == rank ? 30 : 0); };
        const std::int64_t middle = time + 1;
        for (int rank = 0; rank < 3; ++rank) {
            const std::int64_t first = rank == 0 ? time : time + work(rank);
            p[rank].send({first + 1, first + 2}, (rank + 1) % 3);
        }
        const std::int64_t leave = middle + 1040;
        for (int rank = 0; rank < 3; ++rank)
            p[rank].recv({time + work(rank) + 5, leave}, (rank + 2) % 3);
        time = leave;
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    for (const model::Stretch& s : r.profile.stretches) {
        if (s.compared < 2)
            continue;
        EXPECT_NEAR(times_of_peers(s), 1, 0.05);
        EXPECT_GT(static_cast<double>(s.fastest_time), 0.9e9);
    }
}

TEST(Laps, WhoComesByOnceLessIsNotLeftOut)
{
    constexpr int ranks = 4, rounds = 40;
    Program p(ranks);
    pass_token(p, rounds, [](int rank) { return rank == 0 ? 5000 : 500; });
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = stretch(r, "MPI_Recv", "MPI_Send");
    EXPECT_EQ(s.ranks, ranks);
    EXPECT_EQ(s.occurrences, rounds - 1);
    EXPECT_EQ(s.slowest_rank, 0);
    EXPECT_GT(rank_share(s), 0.99);
    EXPECT_NEAR(static_cast<double>(s.fastest_time), 1e8, 1e6);
    ASSERT_FALSE(r.profile.stretch_ranks.empty());
    const model::StretchRank first = rank_of(r, 0);
    EXPECT_NEAR(static_cast<double>(first.compared_ns) / static_cast<double>(first.peers_ns), 10, 0.1);
}

/// Both work all the time; one of them sends once more than it receives.
TEST(Laps, OneCallMoreOrLessIsAsOften)
{
    Program p(2);
    std::int64_t time = 10;
    constexpr int items = 40;
    p[0].send({time + 3000, time + 3001}, 1);
    for (int item = 0; item < items; ++item) {
        const std::int64_t next = time + 3010;
        p[1].recv({item == 0 ? time : time + 3002, next - 5}, 0);
        p[1].send({next - 4, next - 3}, 0);
        p[0].recv({next + 3000 - 8, next + 3000 - 5}, 1);
        if (item + 1 < items)
            p[0].send({next + 3000, next + 3001}, 1);
        time = next;
    }
    p.finish(time + 3010);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    for (const model::Stretch& s : r.profile.stretches) {
        if (s.compared > 2) {
            EXPECT_LT(times_of_peers(s), 1.1);
        }
    }
}

/// What one rank does once, while the others do not wait yet, nobody else does.
TEST(Laps, WhatComesOnceIsNotBalancedByWhoDoesNotWait)
{
    Program p(8);
    run_ring(p, 40, [](int rank, int step) { return rank == 3 && step == 20 ? 9000 : 1000; });
    const Replayed r = replay(p);
    const model::Stretch s = stretch(r, "MPI_Send", "MPI_Recv");
    EXPECT_GE(s.compared_ns - s.peers_ns, 7 * 1000 * us);
    EXPECT_EQ(s.costliest_rank, 3);
    EXPECT_GE(s.costliest_ns, 7 * 1000 * us);
}

}  // namespace
}  // namespace critpath::tests

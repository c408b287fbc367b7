// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Whom a computation on the path is compared with: who comes by between the same two calls, or at one of them, or in
// the same function.
#include "tests/builder/replayed.hpp"
#include "tests/rules/steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <random>
#include <vector>

namespace critpath::tests
{
namespace
{

std::int64_t number(model::ComparedBy by)
{
    return static_cast<std::int64_t>(by);
}

/// Steps that end in an Allreduce. Behind it a token passes all ranks: the first one only sends it, the last one only
/// receives it, so that they come to the next Allreduce from different calls.
void run_token_steps(Program& program, int steps, const std::function<std::int64_t(int rank, int step)>& work)
{
    const int ranks = program.ranks();
    std::vector<std::int64_t> ready(static_cast<std::size_t>(ranks), 10);
    for (int rank = 0; rank < ranks; ++rank)
        program[rank].collective(FunctionId::MPI_Barrier, {5, 10});
    std::int64_t leave = 0;
    for (int step = 0; step < steps; ++step) {
        const auto enter = [&](int rank) { return ready[static_cast<std::size_t>(rank)] + work(rank, step); };
        leave = 0;
        for (int rank = 0; rank < ranks; ++rank)
            leave = std::max(leave, enter(rank) + 2);
        for (int rank = 0; rank < ranks; ++rank) {
            program[rank].collective(FunctionId::MPI_Allreduce, {enter(rank), leave});
            std::int64_t time = leave + 2 * rank + 1;
            if (rank > 0)
                program[rank].recv({leave + 1, time}, rank - 1);
            if (rank + 1 < ranks)
                program[rank].send({time, time + 1}, rank + 1);
            ready[static_cast<std::size_t>(rank)] = rank + 1 < ranks ? time + 1 : time;
        }
    }
    program.finish(leave + 2 * ranks + 2);
}

// Both work before the same Allreduce, one three times as long, and come from different calls.
TEST(Peers, WhoComesFromAnotherCallIsComparedByTheCallAfter)
{
    Program p(2);
    run_token_steps(p, 11, [](int rank, int) { return rank == 0 ? 300 : 100; });
    const Replayed r = replay(p);
    const model::Stretch s = stretch(r, "MPI_Send", "MPI_Allreduce");
    EXPECT_EQ(s.compared_by, number(model::ComparedBy::CallAfter));
    EXPECT_EQ(s.path_ns, 10 * 300 * us);
    EXPECT_EQ(s.gaps, 10);
    EXPECT_EQ(s.compared, 10);
    EXPECT_EQ(s.compared_ns, s.path_ns);
    EXPECT_EQ(s.peers_ns, 10 * 100 * us);
    EXPECT_EQ(sum_of_parts(s), 10 * 200 * us);
    EXPECT_EQ(s.ranks, 2);
    EXPECT_EQ(s.occurrences, 10);  // the first of each comes from the Barrier, and is another place
    EXPECT_GT(rank_share(s), 0.99);
    EXPECT_EQ(s.slowest_rank, 0);
    const auto at = std::ranges::find(r.profile.stretches, s.path_ns, &model::Stretch::path_ns);
    const auto index = static_cast<std::uint32_t>(at - r.profile.stretches.begin());
    EXPECT_EQ(std::ranges::count(r.profile.stretch_shares, index, &model::StretchShare::stretch), 1);
    const auto share = std::ranges::find(r.profile.stretch_shares, index, &model::StretchShare::stretch);
    EXPECT_EQ(share->longer_ns, 10 * 200 * us);
    EXPECT_EQ(share->ns, s.path_ns);
    ASSERT_EQ(index, 0U);
    EXPECT_EQ(std::ranges::count(r.profile.stretch_ranks, index, &model::StretchRank::stretch), 1);
    EXPECT_EQ(rank_of(r, 0).longer_ns(), 10 * 200 * us);
    // The one from the Barrier has peers by both calls.
    EXPECT_EQ(stretch(r, "MPI_Barrier", "MPI_Allreduce").compared_by, number(model::ComparedBy::BothCalls));

    Program three(3);  // the one in the middle sends, too
    run_token_steps(three, 11, [](int rank, int) { return rank == 0 ? 300 : 100; });
    EXPECT_EQ(stretch(replay(three), "MPI_Send", "MPI_Allreduce").compared_by, number(model::ComparedBy::BothCalls));
}

// Each second step one of them is slow before it receives, always; in the others, which one Barrier ends as well, the
// other one is.
TEST(Peers, WhatAProgramDoesInTurnBehindOneCallIsNotChance)
{
    constexpr int steps = 30;
    Program p(2);
    std::int64_t time = 10;
    p[0].collective(FunctionId::MPI_Barrier, {5, time});
    p[1].collective(FunctionId::MPI_Barrier, {5, time});
    for (int step = 0; step < steps; ++step) {
        std::int64_t first = time + 300, second = time + 900;
        if (step % 2 == 1) {
            p[0].recv({time + 2000, time + 2001}, 1);
            p[1].send({time + 200, time + 201}, 0);
            first = time + 2001;
            second = time + 201;
        }
        time = std::max(first, second) + 2;
        p[0].collective(FunctionId::MPI_Barrier, {first, time});
        p[1].collective(FunctionId::MPI_Barrier, {second, time});
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = stretch(r, "MPI_Barrier", "MPI_Recv");
    EXPECT_EQ(s.compared_by, number(model::ComparedBy::CallBefore));
    EXPECT_EQ(s.occurrences, steps / 2);
    EXPECT_GT(rank_share(s), 0.99);
    EXPECT_EQ(s.slowest_rank, 0);
}

// A worker that takes almost four times as long for each task gets fewer of them.
TEST(Peers, ASlowWorkerIsSlowThoughItComesLessOften)
{
    constexpr int ranks = 5, tasks = 104, slow = 2;  // so that the slow one is the last
    Program p(ranks);
    std::vector<std::int64_t> done(ranks, 0);  // when the task is, by rank
    const auto work = [&](int rank, std::int64_t begin) {
        done[static_cast<std::size_t>(rank)] = begin + (rank == slow ? 1900 : 500);
    };
    std::int64_t time = 10;
    const auto send = [&](int rank, std::int64_t ready) {
        p[0].send({time, time + 1}, rank);
        p[rank].recv({ready, time + 2}, 0);
        work(rank, time + 2);
        time += 1;
    };
    for (int rank = 1; rank < ranks; ++rank)
        send(rank, 10);
    std::vector<std::int64_t> left(ranks, 0);
    for (int answers = 0, sent = ranks - 1; answers < tasks; ++answers) {
        const auto first = std::ranges::min_element(done.begin() + 1, done.end());
        const auto rank = static_cast<int>(first - done.begin());
        const std::int64_t sends = *first;
        p[rank].send({sends, sends + 1}, 0);
        const std::int64_t come = std::max(time, sends) + 1;
        p[0].recv({time, come}, rank);
        time = come;
        *first = INT64_MAX;
        if (sent++ < tasks)
            send(rank, sends + 1);
        left[static_cast<std::size_t>(rank)] = sends + 1;
        left[0] = time;
    }
    for (int rank = 0; rank < ranks; ++rank)
        p[rank].collective(FunctionId::MPI_Barrier, {left[static_cast<std::size_t>(rank)], time + 2});
    p.finish(time + 3);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = stretch(r, "MPI_Recv", "MPI_Send");
    EXPECT_EQ(s.ranks, ranks);  // the master comes there, too
    EXPECT_EQ(s.slowest_rank, slow);
    EXPECT_GT(rank_share(s), 0.9);
}

// All do the same with what they receive, but the last one has nobody to send it to: it goes on to the next Recv,
// before which the others do nothing.
TEST(Peers, WhoGoesOnToAnotherCallIsComparedByTheCallBefore)
{
    constexpr int ranks = 4, items = 12;
    Program p(ranks);
    std::vector<std::int64_t> sent(items, 0);  // by the rank before
    std::int64_t end = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        p[rank].collective(FunctionId::MPI_Barrier, {5, 10});
        std::int64_t time = 10;
        for (std::int64_t& at : sent) {
            if (rank > 0) {
                const std::int64_t come = std::max(time, at) + 1;
                p[rank].recv({time, come}, rank - 1);
                time = come;
            }
            time += rank + 1 == ranks ? 200 : 100;
            if (rank + 1 < ranks) {
                p[rank].send({time, time + 1}, rank + 1);
                at = time += 1;
            }
        }
        end = std::max(end, time);
    }
    for (int rank = 0; rank < ranks; ++rank)
        p[rank].collective(FunctionId::MPI_Allreduce, {end, end + 2});
    p.finish(end + 3);
    const Replayed r = replay(p);
    const model::Stretch s = stretch(r, "MPI_Recv", "MPI_Recv");
    EXPECT_EQ(s.compared_by, number(model::ComparedBy::CallBefore));
    EXPECT_EQ(s.path_ns, (items - 1) * 200 * us);
    EXPECT_EQ(s.compared_ns, s.path_ns);
    EXPECT_EQ(s.peers_ns, (items - 1) * 100 * us);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
}

// Who comes to a call twice as often does not do the same there.
TEST(Peers, WhoComesMoreOftenIsNoPeerByOneCall)
{
    Program p(2);
    constexpr int times = 5;
    std::array<std::int64_t, 2> time = {10, 10};
    const auto call = [&](int rank, FunctionId function, std::int64_t work) {
        std::int64_t& t = time[static_cast<std::size_t>(rank)];
        p[rank].call(function, {t + work, t + work + 1});
        t += work + 1;
    };
    for (int rank = 0; rank < 2; ++rank)
        p[rank].collective(FunctionId::MPI_Barrier, {5, 10});
    for (int i = 0; i < times; ++i) {
        call(0, FunctionId::MPI_Wait, 1);
        call(0, FunctionId::MPI_Waitall, 100);
    }
    for (int i = 0; i < 2 * times; ++i)
        call(1, FunctionId::MPI_Wait, 10);
    call(1, FunctionId::MPI_Waitany, 1);
    for (int i = 0; i < 2 * times; ++i)
        call(1, FunctionId::MPI_Waitall, 10);
    for (int rank = 0; rank < 2; ++rank)
        p[rank].collective(FunctionId::MPI_Allreduce, {time[static_cast<std::size_t>(rank)], 1000});
    p.finish(1001);
    const model::Stretch s = stretch(replay(p), "MPI_Wait", "MPI_Waitall");
    EXPECT_EQ(s.path_ns, times * 100 * us);
    EXPECT_EQ(s.compared, 0);
    EXPECT_EQ(s.compared_by, number(model::ComparedBy::BothCalls));
}

/// Rank 0 gives tasks to whoever asks, and does 5 us of its own for each; all in one function, at sites of their own.
void run_tasks(Program& program, int tasks, const std::function<std::int64_t(int rank)>& work)
{
    std::vector<std::int64_t> ready(static_cast<std::size_t>(program.ranks()), 10);
    ready[0] = INT64_MAX;
    std::int64_t master = 10;
    const std::vector<std::string> function = {"main"};
    for (int task = 0; task < tasks; ++task) {
        const auto next = std::ranges::min_element(ready);
        const int worker = static_cast<int>(next - ready.begin());
        const std::int64_t come = std::max(*next, master) + 2;
        program[worker].called_from(function, 0x10);
        program[worker].send({*next, *next + 1}, 0);
        program[0].called_from(function, 0x20);
        program[0].recv({master, come}, worker);
        program[0].called_from(function, 0x30);
        program[0].send({come + 5, come + 6}, worker);
        program[worker].called_from(function, 0x40);
        program[worker].recv({*next + 1, come + 7}, 0);
        *next = come + 7 + work(worker);
        master = come + 6;
    }
    ready[0] = master;
    program.finish(*std::ranges::max_element(ready) + 1);
}

// What the master does for each task is not what a worker does with one.
TEST(Peers, MasterAndWorkersAreNoPeersInOneFunction)
{
    Program p(4);
    run_tasks(p, 80, [](int rank) { return rank == 1 ? 300 : 100; });
    const Replayed r = replay(p);
    const model::Stretch s = stretch(r, "MPI_Recv", "MPI_Send");
    EXPECT_EQ(s.before_site, 0x40);
    EXPECT_EQ(s.after_site, 0x10);
    EXPECT_EQ(s.ranks, 3);
    EXPECT_EQ(s.slow_ranks, 1);
    EXPECT_EQ(s.slowest_rank, 1);
    EXPECT_NEAR(static_cast<double>(s.fastest_time), 1e9 / 3, 1e7);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
}

TEST(Peers, BranchesOfRanksAreOnePlaceIfTheyAreTakenAsOften)
{
    Program p(3);
    run_steps(p, 11, [](int rank, int) { return Work{rank == 2 ? 200 : 100}; }, {0x10, 0x20, 0x20});
    const model::Stretch s = step_of(replay(p));
    EXPECT_EQ(s.before_site, 0);
    EXPECT_EQ(s.compared_by, number(model::ComparedBy::BothCalls));
    EXPECT_EQ(s.compared, 10);
    EXPECT_EQ(s.ranks, 3);
}

/// What a function does is compared wherever that is called, and by the calls that it makes itself.
TEST(Peers, OneFunctionIsOnePlaceWhereverItIsCalled)
{
    for (const std::uint64_t other_site : {0x10, 0x20}) {
        Program p(3);
        std::int64_t time = 10;
        for (int step = 0; step < 20; ++step) {
            for (int rank = 0; rank < 3; ++rank) {
                const bool is_other = rank == 2 || step % 3 == 0;
                p[rank].called_from({"main", "step"}, is_other ? other_site : 0x10, is_other ? 0x99 : 0x88);
                p[rank].collective(FunctionId::MPI_Allreduce, {time + (rank == 1 ? 200 : 100), time + 202});
            }
            time += 202;
        }
        p.finish(time + 1);
        const Replayed r = replay(p);
        EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
        const model::Stretch s = step_of(r);
        EXPECT_EQ(s.before_site, other_site == 0x10 ? 0x10 : 0);
        EXPECT_EQ(s.compared_by, number(model::ComparedBy::BothCalls));
        EXPECT_EQ(s.ranks, 3);
        EXPECT_EQ(s.compared, 19);
        EXPECT_EQ(s.slowest_rank, 1);
        EXPECT_EQ(s.compared_ns, 19 * 200 * us);
        EXPECT_NEAR(static_cast<double>(s.peers_ns), 19 * 100 * us, 1 * us);
    }
}

/// A compiler may make two calls of one in the source: `if (r == 0 && i < 30) more(); if (r == 1 && i >= 30) more();`
/// before it, and no rank comes by the same one all the time. They have met, which those behind two phases never do.
TEST(Peers, CallsThatMeetInOneCollectiveAreOnePlace)
{
    for (const bool are_two_phases : {false, true}) {
        Program p(3);
        std::int64_t time = 10;
        for (int rank = 0; rank < 3; ++rank)
            p[rank].collective(FunctionId::MPI_Barrier, {5, time});
        for (int step = 0; step < 60; ++step) {
            for (int rank = 0; rank < 3; ++rank) {
                const bool is_first = are_two_phases ? step % 2 == 0 : (rank == 0) == (step < 30);
                p[rank].called_from({"main"}, is_first ? 0x10 : 0x20);
                p[rank].collective(FunctionId::MPI_Allreduce, {time + (rank == 2 ? 200 : 100), time + 202});
            }
            time += 202;
        }
        p.finish(time + 1);
        const Replayed r = replay(p);
        EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
        const model::Stretch s = stretch(r, "MPI_Allreduce", "MPI_Allreduce");
        EXPECT_EQ(s.before_site == 0, !are_two_phases);
        EXPECT_EQ(s.ranks, 3);
        EXPECT_NEAR(static_cast<double>(s.compared), are_two_phases ? 30 : 59, 1);
        EXPECT_EQ(s.slowest_rank, 2);
    }
}

/// Steps that end in an Allreduce. In front of it `ranks[i]` says what rank i does, and when it enters that.
using Steps = std::vector<std::function<std::int64_t(Rank& rank, std::int64_t time)>>;

void run(Program& p, const Steps& ranks, int steps)
{
    const int all = p.ranks();
    for (int rank = 0; rank < all; ++rank)
        p[rank].collective(FunctionId::MPI_Barrier, {5, 10});
    std::int64_t time = 10;
    for (int step = 0; step < steps; ++step) {
        std::vector<std::int64_t> enter;
        for (int rank = 0; rank < all; ++rank)
            enter.push_back(ranks[static_cast<std::size_t>(rank)](p[rank], time));
        time = *std::ranges::max_element(enter) + 2;
        for (int rank = 0; rank < all; ++rank)
            p[rank].collective(FunctionId::MPI_Allreduce, {enter[static_cast<std::size_t>(rank)], time});
    }
    p.finish(time + 1);
}

std::int64_t send_late(Rank& rank, std::int64_t time)
{
    rank.send({time + 300, time + 301}, 1);
    return time + 302;
}

// In a chain, the first rank has nothing to receive. What the other one does before it posts its receive is not all of
// its work.
TEST(Peers, CallsThatCannotWaitDoNotDivideTheWorkOfPeers)
{
    constexpr int steps = 11;
    Program p(2);
    run(p,
        {send_late,
         [](Rank& rank, std::int64_t time) {
             const Request request = rank.irecv({time + 10, time + 11}, 0);
             rank.wait({time + 111, time + 312}, request);
             return time + 313;
         }},
        steps);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = stretch(r, "MPI_Allreduce", "MPI_Send");
    EXPECT_EQ(s.compared_by, number(model::ComparedBy::CallBefore));
    EXPECT_EQ(s.path_ns, (steps - 1) * 300 * us);
    EXPECT_EQ(s.compared_ns, s.path_ns);
    EXPECT_EQ(s.peers_ns, (steps - 1) * 110 * us);
    EXPECT_EQ(sum_of_parts(s), s.path_ns - s.peers_ns);
    // Behind the last Allreduce both do next to nothing.
    EXPECT_EQ(s.occurrences, steps - 1);
    EXPECT_NEAR(static_cast<double>(s.fastest_time), 1e9 * 110.0 / 300, 1e6);
    EXPECT_EQ(s.slowest_rank, 0);
}

// One computes before it calls MPI_Test, the other one all the time between.
TEST(Peers, APieceBetweenTestsIsComparedAsAPartOfAllOfThem)
{
    constexpr int steps = 11, pieces = 4;
    Program p(2);
    run(p,
        {[](Rank& rank, std::int64_t time) {
             rank.send({time + 10, time + 11}, 1);
             return time + 211;
         },
         [](Rank& rank, std::int64_t time) {
             const Request request = rank.irecv({time, time}, 0);
             for (int piece = 0; piece < pieces; ++piece)
                 rank.call(FunctionId::MPI_Iprobe, {time += 100, time});
             rank.wait({time, time + 1}, request);
             return time + 1;
         }},
        steps);
    const Replayed r = replay(p);
    const model::Stretch s = stretch(r, "MPI_Iprobe", "MPI_Iprobe");
    EXPECT_EQ(s.path_ns, steps * (pieces - 1) * 100 * us);
    // Of the other one it is what it computes before it can wait: 10 us in all four pieces together.
    EXPECT_EQ(s.peers_ns, s.compared_ns / 40);
}

// Both post a receive, one before its work and the other one behind it, in one place of the program.
TEST(Peers, WorkOnTheOtherSideOfACallThatCannotWaitIsSeen)
{
    constexpr int steps = 11;
    for (const std::int64_t work : {200, 2000}) {
        const auto exchange = [](Rank& rank, int other, std::int64_t time, std::int64_t before, std::int64_t behind) {
            const Request request = rank.irecv({time + before, time + before + 1}, other);
            time += before + 1 + behind;
            rank.send({time, time + 1}, other);
            rank.wait({time + 1, time + 3}, request);
            return time + 3;
        };
        Program p(2);
        run(p,
            {[&](Rank& rank, std::int64_t time) { return exchange(rank, 1, time, work, 10); },
             [&](Rank& rank, std::int64_t time) { return exchange(rank, 0, time, 1, 200); }},
            steps);
        const model::Stretch s = stretch(replay(p), "MPI_Allreduce", "MPI_Irecv");
        EXPECT_EQ(s.path_ns, (steps - 1) * work * us);
        EXPECT_EQ(s.compared_by, number(model::ComparedBy::CallBefore));
        // Of all that a rank does there, this is so large a part.
        const double part = static_cast<double>(work) / static_cast<double>(work + 10);
        EXPECT_NEAR(static_cast<double>(s.peers_ns), part * (steps - 1) * 201 * us, 100);
    }
    // Where the others have the same elsewhere, what is longer is longer.
    const auto same = [](int other, std::int64_t work) {
        return [other, work](Rank& rank, std::int64_t time) {
            const Request request = rank.irecv({time + work, time + work + 1}, other);
            rank.send({time + work + 101, time + work + 102}, other);
            rank.wait({time + work + 102, time + work + 104}, request);
            return time + work + 104;
        };
    };
    Program longer(2);
    run(longer, {same(1, 300), same(0, 100)}, steps);
    const model::Stretch s = stretch(replay(longer), "MPI_Allreduce", "MPI_Irecv");
    EXPECT_EQ(s.compared_by, number(model::ComparedBy::BothCalls));
    EXPECT_EQ(s.peers_ns, (steps - 1) * 100 * us);
}

// Who asks and sleeps by turns waits, and does not work.
TEST(Peers, PausesBetweenPollsAreNoWorkOfPeers)
{
    constexpr int steps = 11;
    Program p(2);
    run(p,
        {send_late,
         [](Rank& rank, std::int64_t time) {
             const Request request = rank.irecv({time + 10, time + 10}, 0);
             for (int i = 0; i < 3; ++i) {
                 rank.call(FunctionId::MPI_Testall, {time + 10 + 90 * i, time + 10 + 90 * i});
                 rank.off({time + 10 + 90 * i, time + 100 + 90 * i}, false);
             }
             rank.call(FunctionId::MPI_Testall, {time + 280, time + 280});
             rank.wait({time + 280, time + 302}, request);
             return time + 302;
         }},
        steps);
    const model::Stretch s = stretch(replay(p), "MPI_Allreduce", "MPI_Send");
    EXPECT_EQ(s.path_ns, (steps - 1) * 300 * us);
    EXPECT_EQ(s.peers_ns, (steps - 1) * 10 * us);
}

// What is compared is the span, but what is said of the gap itself is its own.
TEST(Peers, WhatAGapIsIsNotThatOfItsSpan)
{
    constexpr int steps = 11;
    Program p(2);
    const auto blocked_behind = [](int other, std::int64_t before, std::int64_t work) {
        return [=](Rank& rank, std::int64_t time) {
            const Request request = rank.irecv({time + before, time + before}, other);
            rank.off({time + before, time + before + 100}, false);
            time += before + 100 + work;
            rank.send({time, time + 1}, other);
            rank.wait({time + 1, time + 3}, request);
            return time + 3;
        };
    };
    run(p, {blocked_behind(1, 300, 10), blocked_behind(0, 1, 200)}, steps);
    const model::Stretch s = stretch(replay(p), "MPI_Allreduce", "MPI_Irecv");
    EXPECT_EQ(s.compared_by, number(model::ComparedBy::CallBefore));
    EXPECT_NEAR(static_cast<double>(s.peers_ns), (steps - 1) * 301 * us * 300 / 410.0, 100);
    EXPECT_EQ(s.own_blocked_ns, 0);
}

// Pieces of work between tests need not be as many on all ranks.
TEST(Peers, PiecesOfOtherNumbersAreComparedTogether)
{
    constexpr int steps = 11;
    const auto pieces = [](int number, std::int64_t work) {
        return [=](Rank& rank, std::int64_t time) {
            for (int i = 0; i < number; ++i)
                rank.call(FunctionId::MPI_Iprobe, {time += work / number, time});
            return time + work / number;
        };
    };
    for (const std::int64_t times : {1, 10}) {
        Program p(2);
        run(p, {pieces(3, 1200 * times), pieces(11, 1188)}, steps);
        const model::Stretch s = stretch(replay(p), "MPI_Iprobe", "MPI_Iprobe");
        EXPECT_EQ(s.compared_ns, s.path_ns);
        // The last piece is behind the last call.
        const double own = 1200.0 * static_cast<double>(times) * 4 / 3, other = 1188.0 * 12 / 11;
        EXPECT_NEAR(static_cast<double>(s.peers_ns) / static_cast<double>(s.path_ns), other / own, 0.01);
    }
}

// `if (rank == 0) root_step(); else worker_step();`, both with a barrier of their own.
TEST(Peers, WhoMeetsInACollectiveIsComparedWhereverItIsCalled)
{
    constexpr int steps = 11;
    const auto step = [](const char* function, std::int64_t work) {
        return [function, work](Rank& rank, std::int64_t time) {
            rank.called_from({"main", function}, 0);
            return time + work;
        };
    };
    Program p(3);
    run(p, {step("root_step", 300), step("worker_step", 100), step("worker_step", 100)}, steps);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = step_of(r);
    EXPECT_NE(s.compared_by, number(model::ComparedBy::BothCalls));
    EXPECT_EQ(s.path_ns, (steps - 1) * 300 * us);
    EXPECT_EQ(s.compared_ns, s.path_ns);
    EXPECT_EQ(s.peers_ns, (steps - 1) * 100 * us);
    EXPECT_EQ(s.ranks, 3);
    EXPECT_EQ(s.slowest_rank, 0);
}

TEST(Peers, AnyNumberOfProcessesComparesByTheSameCalls)
{
    std::mt19937 random(7);
    for (int round = 0; round < 4; ++round) {
        Program p(2 + round % 2);
        std::vector<std::int64_t> noise(3 * 30);
        for (std::int64_t& n : noise)
            n = 100 + static_cast<std::int64_t>(random() % 200);
        run_token_steps(p, 30, [&](int rank, int step) { return noise[static_cast<std::size_t>(rank * 30 + step)]; });
        const Replayed together = replay(p);
        EXPECT_EQ(text(together.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
        for (const model::Stretch& s : together.profile.stretches)
            EXPECT_EQ(sum_of_parts(s), s.compared_ns - s.peers_ns);
    }
}

TEST(Peers, WhatOnlyOneRankDoesHasNone)
{
    Program p(3);
    for (int rank = 0; rank < 3; ++rank)
        p[rank].collective(FunctionId::MPI_Barrier, {5, 7});
    p[0].call(FunctionId::MPI_Wait, {7, 7});
    p[0].call(FunctionId::MPI_Waitall, {1007, 1008});
    for (int rank = 0; rank < 3; ++rank)
        p[rank].collective(FunctionId::MPI_Allreduce, {rank == 0 ? 1010 : 100, 1012});
    p.finish(1013);
    const model::Stretch s = stretch(replay(p), "MPI_Wait", "MPI_Waitall");
    EXPECT_EQ(s.path_ns, 1000 * us);
    EXPECT_EQ(s.gaps, 1);
    EXPECT_EQ(s.compared, 0);
    EXPECT_EQ(s.costliest_ns, s.path_ns) << "all of it, since nothing is known of peers";
    EXPECT_EQ(s.costliest_rank, 0);
    EXPECT_EQ(s.costliest_begin_ns, 7 * us);
    EXPECT_EQ(s.compared_ns, 0);
    EXPECT_FALSE(s.has_model());
}

/// Each assembles and then iterates, rank 1 three times as often, with an operation that nobody else is in behind each
/// iteration: nobody can be waited for there, so all of a step is compared.
TEST(Peers, WhatNobodyElseIsInIsNoWait)
{
    Program p(2);
    constexpr std::int64_t assembly = 1000, iteration = 500;
    std::int64_t time = 10;
    for (int rank = 0; rank < 2; ++rank)
        p[rank].collective(FunctionId::MPI_Barrier, {5, time});
    for (int step = 0; step < 20; ++step) {
        const std::int64_t leave = time + assembly + 6 * (iteration + 1) + 2;
        for (int rank = 0; rank < 2; ++rank) {
            std::int64_t now = time + assembly;
            p[rank].called_from({"main", "step", "solve"});
            for (int i = 0; i < (rank == 1 ? 6 : 2); ++i) {
                now += iteration;
                p[rank].collective(FunctionId::MPI_Allreduce, {now, now + 1}, Program::self());
                now += 1;
            }
            p[rank].called_from({"main", "step"});
            p[rank].collective(FunctionId::MPI_Allreduce, {now, leave});
        }
        time = leave;
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    // From one iteration to the next, which rank 0 has once a step; behind the assembly both take as long.
    std::vector<model::Stretch> of_steps;
    std::ranges::copy_if(r.profile.stretches, std::back_inserter(of_steps), [](const model::Stretch& s) {
        return s.compared_by == number(model::ComparedBy::CallBefore) ||
               s.compared_by == number(model::ComparedBy::CallAfter);
    });
    ASSERT_EQ(of_steps.size(), 1U);
    EXPECT_EQ(of_steps[0].path_ns, 20 * 5 * iteration * us);
    EXPECT_NEAR(static_cast<double>(of_steps[0].compared_ns) / static_cast<double>(of_steps[0].peers_ns), 2, 0.01);
    EXPECT_EQ(of_steps[0].slowest_rank, 1);
}

/// Two groups iterate by themselves, one of them more often; all iterations take as long.
TEST(Peers, WhoComesMoreOftenIsCounted)
{
    Program p(4);
    const std::array<model::CommId, 2> groups = {p.comm({0, 1}), p.comm({2, 3})};
    std::int64_t time = 10;
    for (int step = 0; step < 20; ++step) {
        const std::int64_t leave = time + 6 * 101 + 2;
        for (int rank = 0; rank < 4; ++rank) {
            std::int64_t now = time;
            for (int i = 0; i < (rank < 2 ? 6 : 2); ++i, now += 101)
                p[rank].collective(FunctionId::MPI_Bcast, {now + 100, now + 101}, groups[rank < 2 ? 0 : 1], 0);
            p[rank].collective(FunctionId::MPI_Allreduce, {now, leave});
        }
        time = leave;
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = stretch(r, "MPI_Bcast", "MPI_Bcast");
    EXPECT_EQ(s.most_times, 20 * 5);
    EXPECT_EQ(s.most_times_rank, 0);
    EXPECT_EQ(s.second_times, 20 * 5);
    EXPECT_EQ(s.second_times_rank, 1);
    EXPECT_EQ(s.all_times, 20 * (5 + 5 + 1 + 1));
    EXPECT_EQ(s.ranks_there, 4);
}

}  // namespace
}  // namespace critpath::tests

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// How much the other ranks work while one has the path.
#include "tests/builder/replayed.hpp"
#include "tests/rules/steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace critpath::tests
{
namespace
{

/// The part of the time of gaps on the path that the others work, too.
double others_at_work(const model::Stretch& s)
{
    return static_cast<double>(s.others_at_work_ns) / static_cast<double>(s.looked_at_ns);
}

/// Between two operations of all ranks.
double at_work_in_steps(int ranks, const std::function<Work(int rank, int step)>& work)
{
    Program p(ranks);
    run_steps(p, 20, work);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    return others_at_work(stretch(r, "MPI_Allreduce", "MPI_Allreduce"));
}

TEST(Meanwhile, WhoHasAsMuchToDoWorksAsLong)
{
    EXPECT_DOUBLE_EQ(at_work_in_steps(3, [](int, int) { return Work{.on = 1000}; }), 1);
}

TEST(Meanwhile, TheOthersWorkForTheirMean)
{
    EXPECT_NEAR(at_work_in_steps(2, [](int rank, int) { return Work{.on = rank == 0 ? 1500 : 1000}; }), 2.0 / 3, 1e-6);
    const std::vector<std::int64_t> work = {1000, 800, 400, 0};
    EXPECT_NEAR(at_work_in_steps(4, [&](int rank, int) { return Work{.on = work[static_cast<std::size_t>(rank)]}; }),
                0.4, 1e-6);
}

/// Who lacks a processor is not waited for because the others have less to do.
TEST(Meanwhile, ItIsMeasuredByTheTimeWithAProcessor)
{
    EXPECT_DOUBLE_EQ(
        at_work_in_steps(2,
                         [](int rank, int) { return rank == 0 ? Work{.on = 500, .preempted = 500} : Work{.on = 500}; }),
        1);
    EXPECT_NEAR(at_work_in_steps(
                    2, [](int rank, int) { return rank == 0 ? Work{.on = 800, .preempted = 200} : Work{.on = 400}; }),
                0.5, 1e-6);
}

/// A token goes around, and who has it works.
TEST(Meanwhile, WhoWaitsForATokenDoesNotWork)
{
    Program p(3);
    pass_token(p, 40, [](int) { return 500; });
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    EXPECT_LT(others_at_work(stretch(r, "MPI_Recv", "MPI_Send")), 0.01);
}

/// Between two barriers each rank computes for 100 us, and rank 1, before that, is in a call for 800 more, while rank 0
/// computes; the call is made by `call`.
double at_work_beside(const std::function<void(Program& p, std::int64_t enter, std::int64_t leave)>& call)
{
    Program p(2);
    std::int64_t time = 10;
    for (int step = 0; step < 20; ++step) {
        call(p, time + 50, time + 850);
        const std::int64_t end = time + 900;
        p[0].collective(FunctionId::MPI_Barrier, {end + 1, end + 4});
        p[1].collective(FunctionId::MPI_Barrier, {end, end + 4});
        time = end + 4;
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    return others_at_work(stretch(r, "MPI_Barrier", "MPI_Barrier"));
}

/// Who packs data, writes a file of its own or meets nobody but itself is not idle.
TEST(Meanwhile, WhoIsInACallThatWaitsForNobodyWorks)
{
    for (const FunctionId function : {FunctionId::MPI_Pack, FunctionId::MPI_File_write})
        EXPECT_GT(at_work_beside([&](Program& p, std::int64_t enter, std::int64_t leave) {
                      p[1].call(function, {enter, leave});
                  }),
                  0.98);
    EXPECT_LT(at_work_beside([](Program& p, std::int64_t enter, std::int64_t leave) {
                  p[1].call(FunctionId::MPI_Test, {enter, leave});
              }),
              0.15);
}

/// Two of three meet in a collective of their own, the second one of them late: until then the first one waits.
TEST(Meanwhile, WhoWaitsInACallDoesSoUntilTheLastHasCome)
{
    Program p(3);
    const model::CommId both = p.comm({1, 2});
    std::int64_t time = 10;
    for (int step = 0; step < 20; ++step) {
        p[1].collective(FunctionId::MPI_Allreduce, {time, time + 600}, both);
        p[2].collective(FunctionId::MPI_Allreduce, {time + 500, time + 600}, both);
        const std::int64_t end = time + 1000;
        p[0].collective(FunctionId::MPI_Barrier, {end + 1, end + 4});
        for (const int rank : {1, 2})
            p[rank].collective(FunctionId::MPI_Barrier, {end, end + 4});
        time = end + 4;
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    EXPECT_NEAR(others_at_work(stretch(r, "MPI_Barrier", "MPI_Barrier")), 0.75, 0.01);
}

/// Who looks whether a message has come, again and again, waits for it.
TEST(Meanwhile, WhoPollsDoesNotWork)
{
    Program p(2);
    std::int64_t time = 10;
    for (int step = 0; step < 20; ++step) {
        const std::int64_t end = time + 1000;
        p[0].send({end, end + 1}, 1);
        const Request request = p[1].irecv({time, time + 1}, 0);
        for (std::int64_t t = time + 2; t + 4 < end + 3; t += 4)
            p[1].call(FunctionId::MPI_Test, {t, t + 3});
        p[1].test({end + 4, end + 6}, request);
        time = end + 20;
        p[0].collective(FunctionId::MPI_Barrier, {end + 2, time});
        p[1].collective(FunctionId::MPI_Barrier, {end + 10, time});
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    EXPECT_LT(others_at_work(stretch(r, "MPI_Barrier", "MPI_Send")), 0.01);
}

/// Who looks now and then while it computes works.
TEST(Meanwhile, WhoComputesBetweenPollsWorks)
{
    Program p(2);
    std::int64_t time = 10;
    for (int step = 0; step < 20; ++step) {
        for (int rank = 0; rank < 2; ++rank)
            for (std::int64_t t = time + 100; t < time + 1000; t += 100)
                p[rank].call(FunctionId::MPI_Iprobe, {t - 1, t});
        const std::int64_t end = time + 1000;
        for (int rank = 0; rank < 2; ++rank)
            p[rank].collective(FunctionId::MPI_Barrier, {end + rank, end + 3});
        time = end + 3;
    }
    p.finish(time + 1);
    for (const model::Stretch& s : replay(p).profile.stretches)
        if (s.occurrences > 15) {
            EXPECT_GT(others_at_work(s), 0.9);
        }
}

/// Who never comes there, such as a server, has no part in the work.
TEST(Meanwhile, OnlyWhoComesThereIsMeant)
{
    Program p(4);
    const model::CommId workers = p.comm({0, 1}), servers = p.comm({2, 3});
    std::int64_t time = 10;
    for (int step = 0; step < 20; ++step) {
        for (const int rank : {0, 1})
            p[rank].collective(FunctionId::MPI_Allreduce, {time + 1000 + rank, time + 1003}, workers);
        time += 1003;
    }
    for (const int rank : {2, 3}) {
        p[rank].collective(FunctionId::MPI_Barrier, {10, 11}, servers);
        p[rank].finish(12);
    }
    for (const int rank : {0, 1})
        p[rank].finish(time + 1);
    EXPECT_GT(others_at_work(stretch(replay(p), "MPI_Allreduce", "MPI_Allreduce")), 0.99);
}

/// Which of its peers' work is between other calls is another question: they may work all the time.
TEST(Meanwhile, WorkIsWorkWhereverItIs)
{
    Program p(2);
    std::int64_t time = 10;
    for (int step = 0; step < 20; ++step) {
        const std::int64_t end = time + 1000;
        p[0].send({end, end + 1}, 1);
        const Request request = p[1].irecv({time + 1, time + 2}, 0);
        p[1].wait({end - 100, end + 2}, request);
        time = end + 10;
        p[0].collective(FunctionId::MPI_Barrier, {end + 2, time});
        p[1].collective(FunctionId::MPI_Barrier, {end + 3, time});
    }
    p.finish(time + 1);
    EXPECT_NEAR(others_at_work(stretch(replay(p), "MPI_Barrier", "MPI_Send")), 0.9, 0.002);
}

/// What two ranks do who share one processor, us: who has it works, meets the other one in a call that this one has
/// entered before it lost the processor, works on, and waits in the next call until its turn comes again.
void share_processor(Program& p, int turns, std::int64_t work)
{
    const auto meet = [&](int rank, std::int64_t enter, std::int64_t leave) {
        p[rank].collective(FunctionId::MPI_Allreduce, {enter, leave});
    };
    const std::int64_t length = 2 * work + 6;  // of a turn
    const auto begin = [&](int turn) { return 10 + turn * length; };
    p[0].collective(FunctionId::MPI_Barrier, {5, 10});
    p[1].off({8, begin(1) - 1}, true);
    p[1].collective(FunctionId::MPI_Barrier, {6, begin(1)});
    for (int turn = 0; turn < turns; ++turn) {
        const int rank = turn % 2;
        std::int64_t time = begin(turn) + work;
        if (turn > 0) {
            meet(rank, time, time + 2);
            time += work + 2;
        }
        p[rank].off({time + 1, begin(turn + 2) - 1}, true);
        meet(rank, time, begin(turn + 2));
    }
    p.finish(begin(turns + 2));
}

/// Each of them works while the other one has no processor, and could.
TEST(Meanwhile, WhoSharesAProcessorWorksBeforeTheOtherCan)
{
    for (const std::int64_t work : {10, 50, 2000}) {
        Program p(2);
        share_processor(p, 20, work);
        const Replayed r = replay(p);
        EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
        EXPECT_GT(others_at_work(stretch(r, "MPI_Allreduce", "MPI_Allreduce")), 0.9);
    }
}

/// Here only one of them has something to do at a time. The other one is late for want of a processor, too: the first
/// has that, and looks for the next message.
TEST(Meanwhile, WhoWaitsOnASharedProcessorDoesNotWork)
{
    constexpr std::int64_t work = 500, late = 100;
    Program p(2);
    std::int64_t time = 10;
    p[0].collective(FunctionId::MPI_Barrier, {5, time});
    p[1].collective(FunctionId::MPI_Barrier, {5, time});
    std::int64_t waits = time + 1;
    for (int step = 0; step < 40; ++step) {
        const int rank = step % 2;
        const std::int64_t end = time + work;
        p[1 - rank].off({time, end + late}, true);
        p[rank].rooted(FunctionId::MPI_Bcast, {end, end + 1}, rank);
        p[1 - rank].rooted(FunctionId::MPI_Bcast, {waits, end + late + 1}, rank);
        waits = end + 2;
        time = end + late + 1;
    }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    EXPECT_LT(others_at_work(stretch(r, "MPI_Bcast", "MPI_Bcast")), 0.05);
}

TEST(Meanwhile, OneRankHasNoOthers)
{
    Program p(1);
    run_steps(p, 20, [](int, int) { return Work{.on = 1000}; });
    for (const model::Stretch& s : replay(p).profile.stretches)
        EXPECT_EQ(s.others_at_work_ns, 0);
}

}  // namespace
}  // namespace critpath::tests

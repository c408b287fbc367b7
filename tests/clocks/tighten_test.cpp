// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What events say about clocks, in traces of a few events; and that it is the same on any number of processes.
#include "replayer/clocks/tighten.hpp"
#include "tests/builder/replayed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace critpath::tests
{
namespace
{

using model::Ns;
using replayer::Replay;
using replayer::clocks::Findings;

/// `measured`: by clock, us; negative: not.
Replay tightened(const Program& program, MPI_Comm comm, const std::vector<std::int64_t>& measured = {})
{
    Replay replay = load(program, comm, replayer::Rules::Arrival);
    for (model::ProcessTrace& trace : replay.processes) {
        const auto clock = replay.definitions.processes[trace.process.value].clock_domain.value;
        if (clock < measured.size() && measured[clock] >= 0)
            trace.clock_uncertainty = std::chrono::microseconds{measured[clock]};
    }
    Findings found = replayer::clocks::compare(replay, true);
    replayer::clocks::tighten(replay, found);
    return replay;
}

/// Alone; what the clock of rank 1 was moved by at its first enter, and what it may still be off, in us.
struct Outcome {
    double moved, error;
    bool is_known;
};
Outcome second_clock(const Program& program, const std::vector<std::int64_t>& measured = {})
{
    const Replay before = load(program, MPI_COMM_SELF, replayer::Rules::Arrival);
    const Replay after = tightened(program, MPI_COMM_SELF, measured);
    const Ns moved = after.processes[1].locations[0].calls.enter(0) - before.processes[1].locations[0].calls.enter(0);
    const auto us = [](Ns ns) { return static_cast<double>(ns.count()) / 1000; };
    return {us(moved), us(after.definitions.clock_uncertainty[1]), after.clocks[1].is_known};
}

Program& two_clocks(Program& program)
{
    program.clocks({0, 1}, {0, 0});
    return program;
}

/// Rank 1's clock shows 100 us too much; a message each way takes 4 us, at about the same time.
void messages_both_ways(Program& p)
{
    p[0].send({1000, 1001}, 1);
    p[1].recv({1050, 1104}, 0);
    p[1].send({1110, 1111}, 0);
    p[0].recv({1005, 1014}, 1);
}

TEST(Tighten, MessagesBothWaysLeaveTheirOwnTime)
{
    Program p(2);
    messages_both_ways(two_clocks(p));
    p.finish(1200);
    const Outcome outcome = second_clock(p);
    EXPECT_NEAR(outcome.moved, -100, 0.1);
    EXPECT_NEAR(outcome.error, 4, 0.2);
    EXPECT_TRUE(outcome.is_known);
}

TEST(Tighten, NobodyLeavesABarrierBeforeAllHaveCome)
{
    Program p(2);
    two_clocks(p);
    p[0].collective(FunctionId::MPI_Barrier, {1000, 1010});
    p[1].collective(FunctionId::MPI_Barrier, {1050, 1060});
    p.finish(1100);
    const Outcome outcome = second_clock(p);
    EXPECT_NEAR(outcome.moved, -50, 0.1);
    EXPECT_NEAR(outcome.error, 10, 0.2);
}

/// Without data they may leave as they like.
TEST(Tighten, EmptyCollectivesSayNothing)
{
    Program p(2);
    two_clocks(p);
    p[0].collective(FunctionId::MPI_Allreduce, {1000, 1010}, 0);
    p[1].collective(FunctionId::MPI_Allreduce, {1050, 1060}, 0);
    p.finish(1100);
    const Outcome outcome = second_clock(p);
    EXPECT_EQ(outcome.moved, 0);
    EXPECT_FALSE(outcome.is_known);
}

TEST(Tighten, MessagesOneWaySayTooLittle)
{
    Program p(2);
    two_clocks(p);
    p[0].send({1000, 1001}, 1);
    p[1].recv({1050, 1104}, 0);
    p.finish(1200);
    EXPECT_FALSE(second_clock(p).is_known);
    EXPECT_EQ(second_clock(p).moved, 0);
}

/// The end of a synchronous send proves that the receive was posted: with its message, that is both ways.
TEST(Tighten, SynchronousSendsSayBoth)
{
    Program p(2);
    two_clocks(p);
    p[0].ssend({1000, 1300}, 1);
    p[1].recv({1380, 1390}, 0);
    p.finish(1500);
    const Outcome outcome = second_clock(p);
    EXPECT_TRUE(outcome.is_known);
    EXPECT_NEAR(outcome.moved, -(80 + 390) / 2.0, 0.1);
}

TEST(Tighten, WhatWasMeasuredIsIntersected)
{
    Program p(2);
    two_clocks(p);  // by the messages, from 98 too little to 2 too much
    p[0].send({1000, 1001}, 1);
    p[1].recv({990, 1098}, 0);
    p[1].send({1110, 1111}, 0);
    p[0].recv({1005, 1112}, 1);
    p.finish(1200);
    EXPECT_NEAR(second_clock(p).moved, (-98 + 2) / 2.0, 0.1);
    const Outcome measured = second_clock(p, {0, 20});
    EXPECT_NEAR(measured.moved, (-20 + 2) / 2.0, 0.1);
    EXPECT_NEAR(measured.error, 11, 0.1);
    const Outcome exactly = second_clock(p, {0, 0});
    EXPECT_EQ(exactly.moved, 0);
    EXPECT_NEAR(exactly.error, 0, 0.01);
}

TEST(Tighten, MessagesGoBeforeMeasurementsThatTheyContradict)
{
    Program p(2);
    messages_both_ways(two_clocks(p));
    p.finish(1200);
    for (const std::int64_t measured : {0, 1, 20}) {  // also if it claims to be better than any message
        const Outcome outcome = second_clock(p, {0, measured});
        EXPECT_NEAR(outcome.moved, -100, 0.1);
        EXPECT_NEAR(outcome.error, 4, 0.2);
        EXPECT_TRUE(outcome.is_known);
    }
}

TEST(Tighten, ClocksWithoutEventsBetweenThemKeepWhatWasMeasured)
{
    Program p(2);
    two_clocks(p);
    p.finish(1200);
    const Outcome outcome = second_clock(p, {0, 20});
    EXPECT_EQ(outcome.moved, 0);
    EXPECT_EQ(outcome.error, 20);
}

TEST(Tighten, OneClockIsLeftAlone)
{
    Program p(2);
    p.clocks({0, 0}, {});
    messages_both_ways(p);
    p.finish(1200);
    const Replay replay = tightened(p, MPI_COMM_SELF);
    EXPECT_TRUE(replay.clocks.empty());
    EXPECT_EQ(replay.processes[1].locations[0].calls.enter(0), std::chrono::microseconds{1050});
}

/// Rings of messages, collectives of all and of parts, and more clocks than some replays have processes.
void many_clocks(Program& p)
{
    std::mt19937 random(9);
    const auto draw = [&](int most) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(most)); };
    const int ranks = p.ranks();
    p.clocks({0, 1, 1, 2, 3, 4, 4, 5, 6}, std::vector<std::int64_t>(7, 0));
    const auto odd = p.comm({1, 3, 5, 7});
    std::vector<std::int64_t> offset;
    for (int r = 0; r < ranks; ++r)
        offset.push_back(1000 + 50 * p.definitions().processes[static_cast<std::size_t>(r)].clock_domain.value);
    for (std::int64_t time = 0; time < 100'000; time += 10'000) {
        for (int r = 0; r < ranks; ++r) {
            const std::int64_t t = offset[static_cast<std::size_t>(r)] + time + draw(20);
            p[r].send({t, t + 1}, (r + 1) % ranks);
            p[r].recv({t + 2, t + 60 + draw(20)}, (r + ranks - 1) % ranks);
            if (r % 2 == 1)
                p[r].collective(FunctionId::MPI_Allreduce, {t + 2000, t + 2100 + draw(50)}, odd);
            if (time % 30'000 == 0)
                p[r].collective(FunctionId::MPI_Barrier, {t + 4000, t + 4100 + draw(50)});
        }
    }
    p.finish(200'000);
}

TEST(Tighten, IsTheSameOnAllNumbersOfProcesses)
{
    Program p(9);
    many_clocks(p);
    for (const auto& measured :
         {std::vector<std::int64_t>{}, std::vector<std::int64_t>{0, 500, 500, -1, 500, 500, 500}}) {
        const Replay alone = tightened(p, MPI_COMM_SELF, measured);
        const Replay together = tightened(p, MPI_COMM_WORLD, measured);
        EXPECT_EQ(together.definitions.clock_uncertainty, alone.definitions.clock_uncertainty);
        ASSERT_EQ(together.clocks.size(), 7);
        for (std::size_t i = 0; i < 7; ++i) {
            EXPECT_EQ(together.clocks[i].correction, alone.clocks[i].correction);
            EXPECT_TRUE(together.clocks[i].is_known);
        }
        EXPECT_GT(alone.clocks[6].correction, std::chrono::microseconds{200});
        for (const model::ProcessTrace& trace : together.processes) {
            const model::Calls& calls = trace.locations[0].calls;
            const model::Calls& expected = alone.trace_of(trace.process).locations[0].calls;
            EXPECT_EQ(calls.enters(), expected.enters());
            for (std::size_t i = 0; i < calls.size(); ++i)
                EXPECT_EQ(calls.leave(i), expected.leave(i));
        }
    }
}

}  // namespace
}  // namespace critpath::tests

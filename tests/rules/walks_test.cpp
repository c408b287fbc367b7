// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the walk in parts stands on: the moments that no path can pass by, and which way to walk is chosen.
//
// And how jumps, and the sends that receives got, are kept: what is unusual about one must not be lost.
#include "replayer/pair/pair.hpp"
#include "replayer/restore/tiers.hpp"
#include "tests/builder/replayed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace critpath::tests
{
namespace
{

using replayer::Anchors;
using replayer::Tier;

struct Found {
    Anchors anchors;
    std::vector<std::int64_t> enters;  // us, of all processes
};

Found anchors_of(const Program& program)
{
    const auto loaded = load(program, MPI_COMM_WORLD, replayer::Rules::Arrival);
    const auto resolved = resolve(loaded);
    const auto jumps = replayer::own_jumps(loaded, resolved.predecessors);
    Found found{replayer::find_anchors(loaded, resolved.predecessors, jumps), {}};
    constexpr int most = 16;
    std::int64_t mine[most] = {};
    std::int64_t all[most * 16] = {};
    for (std::size_t i = 0; i < found.anchors.own.size(); ++i)
        mine[i] = found.anchors.own[i].enter.count() / 1000;
    MPI_Allgather(mine, most, MPI_INT64_T, all, most, MPI_INT64_T, MPI_COMM_WORLD);
    std::ranges::copy_if(all, std::back_inserter(found.enters), [](std::int64_t t) { return t != 0; });
    std::ranges::sort(found.enters);
    return found;
}

/// Everybody comes at the times of `enters` and leaves 3 us behind the last one.
void meet(Program& program, std::initializer_list<std::int64_t> enters)
{
    int rank = 0;
    for (const std::int64_t enter : enters)
        program[rank++].collective(FunctionId::MPI_Allreduce, {enter, std::max(enters) + 3});
}

TEST(Anchors, AreWhereAllWaitedForOne)
{
    Program program(3);
    meet(program, {100, 200, 300});
    meet(program, {600, 500, 400});
    program.finish(700);
    const Found found = anchors_of(program);
    EXPECT_EQ(found.anchors.count, 2U);
    EXPECT_EQ(found.enters, (std::vector<std::int64_t>{300, 600}));
    EXPECT_EQ(found.anchors.most_jumps, 2U);  // the two others, of each of them
}

TEST(Anchors, AreNotWhereAMessagePassesBy)
{
    Program program(3);
    meet(program, {100, 200, 300});
    const Request receive = program[1].irecv({310, 311}, 0);
    program[0].send({320, 321}, 1);
    meet(program, {600, 500, 400});
    program[1].wait({610, 1200}, receive);  // which took until long after the collective to arrive
    meet(program, {1300, 1400, 1500});
    program.finish(1600);
    const Found found = anchors_of(program);
    EXPECT_EQ(found.enters, (std::vector<std::int64_t>{300, 1500}));
    EXPECT_EQ(found.anchors.count, 2U);
}

TEST(Anchors, AreNotWhereSomebodyDidNotWait)
{
    Program program(3);
    meet(program, {100, 200, 300});
    for (int rank = 0; rank < 3; ++rank)  // only rank 0 waits for the root
        program[rank].rooted(FunctionId::MPI_Reduce, {rank == 0 ? 400 : 500, rank == 0 ? 503 : 501}, 0);
    program.finish(700);
    EXPECT_EQ(anchors_of(program).enters, (std::vector<std::int64_t>{300}));
}

TEST(Anchors, AreNotOfSomeProcessesOnly)
{
    Program program(3);
    const auto two = program.comm({0, 1});
    program[0].collective(FunctionId::MPI_Allreduce, {100, 203}, two);
    program[1].collective(FunctionId::MPI_Allreduce, {200, 203}, two);
    program.finish(700);
    EXPECT_EQ(anchors_of(program).anchors.count, 0U);
}

TEST(Tiers, FollowTheNumberOfJumpsAndTheAnchors)
{
    using replayer::choose;
    EXPECT_EQ(choose({.jumps = 1000, .locations = 4, .can_be_cut = false}), Tier::Gather);
    const std::uint64_t many = 1'000'000'000;
    EXPECT_EQ(choose({.jumps = many, .locations = 4, .can_be_cut = false}), Tier::Token);
    const replayer::Size large{.jumps = many, .locations = 1000, .can_be_cut = true};
    EXPECT_EQ(choose(large), Tier::Segments);
    EXPECT_EQ(choose(large, Anchors{{}, 0, many}), Tier::Lifting);
    EXPECT_EQ(choose(large, Anchors{{}, 100, many / 10}), Tier::Lifting);
    EXPECT_EQ(choose(large, Anchors{{}, 100'000, many / 100'000}), Tier::Segments);
}

TEST(Jumps, ArriveInPiecesOfAnySize)
{
    for (const std::uint32_t number : {0U, 1U, 63U, 64U, 65U, 16'383U, 16'384U, 100'000U}) {
        replayer::ArrivedJumps jumps(number);
        for (std::uint32_t i = 0; i < number; ++i)
            jumps.push_back({{{0}, {i}}, model::Ns{i}, {{1}, {2 * i}}, model::Ns{0}});
        EXPECT_EQ(jumps.size(), number);
        std::uint32_t right = 0;
        for (std::uint32_t i = 0; i < number; ++i)
            right += jumps[i].call.call.value == i && jumps[i].to.call.value == 2 * i ? 1 : 0;
        EXPECT_EQ(right, number);
    }
}

/// Mostly near, and sometimes at the borders of what fits, or far in the past or the future.
model::Ns some_distance(std::mt19937_64& random)
{
    constexpr std::int64_t borders[] = {0,
                                        1,
                                        -1,
                                        (std::int64_t{1} << 31) - 1,
                                        std::int64_t{1} << 31,
                                        (std::int64_t{1} << 32) - 2,
                                        (std::int64_t{1} << 32) - 1,
                                        std::int64_t{1} << 32,
                                        -(std::int64_t{1} << 40),
                                        std::int64_t{1} << 50};
    const std::uint64_t choice = random() % 40;
    return model::Ns{choice < std::size(borders) ? borders[choice] : static_cast<std::int64_t>(random() % 1'000'000)};
}

TEST(Jumps, ArriveAsTheyAreHoweverFarTheyLead)
{
    std::mt19937_64 random(1);
    std::vector<replayer::Jump> sent;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        const model::Ns leave{1'000'000'000LL * i};
        sent.push_back({{{7}, {i}}, leave, {{i % 3}, {i / 2}}, leave - some_distance(random)});
    }
    replayer::ArrivedJumps jumps(sent.size());
    for (const replayer::Jump& jump : sent)
        jumps.push_back(jump);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        EXPECT_EQ(jumps[i].call, sent[i].call) << i;
        EXPECT_EQ(jumps[i].leave, sent[i].leave) << i;
        EXPECT_EQ(jumps[i].to, sent[i].to) << i;
        EXPECT_EQ(jumps[i].to_enter, sent[i].to_enter) << i;
    }
}

TEST(Jumps, AreKeptWhateverTheyAreLike)
{
    std::mt19937_64 random(1);
    // Of a trace with few locations, one with so many that few messages differ, and one with more than it says.
    for (const std::size_t locations : {std::size_t{2}, std::size_t{1} << 24, std::size_t{1}}) {
        model::LocationTrace trace;
        trace.location = {1};
        replayer::JumpTable table(locations);
        std::vector<replayer::KnownJump> added;
        for (std::uint32_t i = 0; i < 1000; ++i) {
            const model::Ns leave{1'000'000'000LL * (i + 1)};
            trace.calls.add(leave - model::Ns{10}, leave, {3});
            const std::uint32_t to = i % 5 == 0 && locations != 2 ? 123'456 : i % 2;
            const model::CallRef here{{1}, {i}}, there{{to}, {i / 2}};
            const replayer::Jump jump{here, leave, there, leave - some_distance(random)};
            const auto kind = i % 7 == 0 ? model::SegmentKind::Collective : model::SegmentKind::Transfer;
            const auto confidence = i % 11 == 0 ? model::Confidence::Low : model::Confidence::Full;
            added.push_back({jump, std::uint64_t{i} << 20, {3}, kind, confidence, {i % 4}, i % 2 == 0});
            table.add(added.back());
        }
        table.sort();
        ASSERT_EQ(table.size(), added.size());
        for (std::size_t i = 0; i < added.size(); ++i) {
            const replayer::KnownJump jump = table.known(i, trace);
            EXPECT_EQ(jump.call, added[i].call) << i;
            EXPECT_EQ(jump.leave, added[i].leave) << i;
            EXPECT_EQ(jump.to, added[i].to) << i;
            EXPECT_EQ(jump.to_enter, added[i].to_enter) << i;
            EXPECT_EQ(jump.bytes, added[i].bytes) << i;
            EXPECT_EQ(jump.context, added[i].context) << i;
            EXPECT_EQ(jump.kind, added[i].kind) << i;
            EXPECT_EQ(jump.confidence, added[i].confidence) << i;
            EXPECT_EQ(jump.peer, added[i].peer) << i;
            EXPECT_EQ(jump.sends, added[i].sends) << i;
        }
    }
}

TEST(MatchedSends, AreKeptWhateverTheyAreLike)
{
    std::mt19937_64 random(1);
    constexpr std::uint32_t number = 20'000;
    replayer::MatchedSends sends(number);
    std::vector<replayer::MatchedSend> matched(number);
    std::vector<std::uint32_t> order(number);
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::shuffle(order, random);
    for (const std::uint32_t i : order) {
        if (i % 10 == 0)
            continue;  // it gets no message
        const unsigned proof = i % 4;
        matched[i] = {{{{i % 100}, {i}}, model::Ns{1'000'000LL * i} - some_distance(random)},
                      static_cast<functions::SendMode>(i % 5),
                      static_cast<replayer::rules::Link>(i % 2),
                      proof >= 1,
                      proof >= 2,
                      proof >= 3,
                      i % 3 == 0,
                      i % 7 == 0};
        sends.set(i, matched[i]);
    }
    for (std::uint32_t i = 0; i < number; ++i) {
        sends.forget(i);  // these are not asked for any more
        ASSERT_EQ(sends.has(i), i % 10 != 0) << i;
        if (i % 10 == 0)
            continue;
        const replayer::MatchedSend send = sends[i];
        EXPECT_EQ(send.post.call, matched[i].post.call) << i;
        EXPECT_EQ(send.post.time, matched[i].post.time) << i;
        EXPECT_EQ(send.mode, matched[i].mode) << i;
        EXPECT_EQ(send.link, matched[i].link) << i;
        EXPECT_EQ(send.over_before, matched[i].over_before) << i;
        EXPECT_EQ(send.surely_over, matched[i].surely_over) << i;
        EXPECT_EQ(send.unaided, matched[i].unaided) << i;
        EXPECT_EQ(send.within_clocks, matched[i].within_clocks) << i;
        EXPECT_EQ(send.there_at_call, matched[i].there_at_call) << i;
    }
    EXPECT_EQ(sends.size(), number);
}

TEST(Jumps, AreFoundFromWhereverTheSearchBegins)
{
    for (std::uint32_t number = 0; number < 20; ++number) {
        replayer::ArrivedJumps jumps(number);
        for (std::uint32_t i = 0; i < number; ++i)
            jumps.push_back({{{0}, {3 * i + 1}}, model::Ns{100 * i}, {{1}, {0}}, model::Ns{0}});
        const replayer::JumpList list(jumps);
        for (std::size_t near = 0; near < number + 2; ++near) {
            for (std::uint32_t call = 0; call < 3 * number + 2; ++call)
                EXPECT_EQ(list.before({call}, near), std::min((call + 1) / 3, number)) << number << " from " << near;
            for (std::uint32_t time = 0; time < 100 * number; time += 50)
                EXPECT_EQ(list.until(model::Ns{time}, near), time / 100 + 1) << number << " from " << near;
        }
    }
}

}  // namespace
}  // namespace critpath::tests

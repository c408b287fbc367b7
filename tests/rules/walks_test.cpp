// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What the walk in parts stands on: the moments that no path can pass by, and which way to walk is chosen.
#include "replayer/restore/tiers.hpp"
#include "tests/builder/replayed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

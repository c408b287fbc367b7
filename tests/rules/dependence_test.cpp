// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Collectives in which a member waits for some of the others only: inter-communicators, neighbourhoods, and amounts of
// nothing (docs/ALGORITHM, "Collectives"). Times are in us. Calls up to 5 us never count as having waited.
#include "replayer/rules/collective_rule.hpp"
#include "tests/builder/replayed.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace critpath::tests
{
namespace
{

constexpr int me = -2;      // MPI_ROOT
constexpr int beside = -3;  // MPI_PROC_NULL

// ---- inter-communicators, MPI-3.1, 5.2.2 and 5.2.3

TEST(InterCommunicator, BcastGoesFromTheRootToTheOtherGroup)
{
    Program p(4);
    const auto inter = p.intercomm({0, 1}, {2, 3});
    p[0].collective(FunctionId::MPI_Bcast, {50, 51}, inter, me);
    p[1].collective(FunctionId::MPI_Bcast, {70, 71}, inter, beside);
    p[2].collective(FunctionId::MPI_Bcast, {60, 61}, inter, 0);  // later than 3, which does not wait for it
    p[3].collective(FunctionId::MPI_Bcast, {10, 53}, inter, 0);
    p[3].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 0: 0-50 | collective 0>3: 50-53 | compute 3: 53-120");
}

TEST(InterCommunicator, WhoIsBesideTheRootWaitsForNobody)
{
    Program p(4);
    const auto inter = p.intercomm({0, 1}, {2, 3});
    p[0].collective(FunctionId::MPI_Bcast, {50, 51}, inter, me);
    p[1].collective(FunctionId::MPI_Bcast, {10, 11}, inter, beside);
    p[2].collective(FunctionId::MPI_Bcast, {60, 61}, inter, 0);
    p[3].collective(FunctionId::MPI_Bcast, {40, 53}, inter, 0);
    p[1].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 1: 0-10 | mpi 1: 10-11 | compute 1: 11-120");
}

TEST(InterCommunicator, ReduceWaitsForTheOtherGroupAtTheRoot)
{
    Program p(4);
    const auto inter = p.intercomm({0, 1}, {2, 3});
    p[0].collective(FunctionId::MPI_Reduce, {10, 53}, inter, me);
    p[1].collective(FunctionId::MPI_Reduce, {70, 71}, inter, beside);
    p[2].collective(FunctionId::MPI_Reduce, {50, 51}, inter, 0);
    p[3].collective(FunctionId::MPI_Reduce, {20, 21}, inter, 0);
    p[0].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 2: 0-50 | collective 2>0: 50-53 | compute 0: 53-120");
}

TEST(InterCommunicator, AGroupOfOneIsWaitedForAsWell)
{
    Program p(2);
    const auto inter = p.intercomm({0}, {1});
    p[0].collective(FunctionId::MPI_Barrier, {10, 53}, inter);
    p[1].collective(FunctionId::MPI_Barrier, {50, 51}, inter);
    p[0].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 1: 0-50 | collective 1>0: 50-53 | compute 0: 53-120");
}

// ---- neighbourhoods, MPI-3.1, 7.6

TEST(Neighbourhood, WaitsForItsInNeighbours)
{
    Program p(4);  // a ring in one direction; rank 3 is the last of all, but sends to 0 only
    for (std::uint32_t r = 0; r < 4; ++r)
        p.neighbours(Program::world(), r, {(r + 3) % 4});
    p[0].collective(FunctionId::MPI_Neighbor_allgather, {10, 73});
    p[1].collective(FunctionId::MPI_Neighbor_allgather, {50, 51});
    p[2].collective(FunctionId::MPI_Neighbor_allgather, {20, 53});
    p[3].collective(FunctionId::MPI_Neighbor_allgather, {70, 71});
    p[2].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 1: 0-50 | collective 1>2: 50-53 | compute 2: 53-120");
    Program q(3);  // the same, but who is late is no neighbour; so nobody explains it but the release rule
    q.neighbours(Program::world(), 2, {1});
    q[0].collective(FunctionId::MPI_Neighbor_allgather, {60, 61});
    q[1].collective(FunctionId::MPI_Neighbor_allgather, {20, 21});
    q[2].collective(FunctionId::MPI_Neighbor_allgather, {30, 63});
    q[2].finish(120);
    q.finish(100);
    EXPECT_EQ(path(q), "compute 0: 0-60 | collective? 0>2: 60-63 | compute 2: 63-120");
}

// Rendezvous with a receiver can hold up who sends, beyond the semantics.
TEST(Neighbourhood, WhoExplainsOnlyTheBeginningIsNotTheReason)
{
    Program p(3);
    p.neighbours(Program::world(), 0, {1});
    p[0].collective(FunctionId::MPI_Neighbor_allgather, {10, 1002});
    p[1].collective(FunctionId::MPI_Neighbor_allgather, {20, 21});
    p[2].collective(FunctionId::MPI_Neighbor_allgather, {1000, 1001});
    p[0].finish(1200);
    p.finish(1100);
    EXPECT_EQ(path(p), "compute 2: 0-1000 | collective? 2>0: 1000-1002 | compute 0: 1002-1200");
}

/// Rank 1 gets what takes 20 us from rank 0 on, which came 10 us before it.
TEST(Neighbourhood, LearnsHowLongItTakesFromWhoWaitedForTheLastOfAll)
{
    const auto last_part = [](bool has_example) {
        Program p(4);
        for (std::uint32_t r = 0; r < 4; ++r)
            p.neighbours(Program::world(), r, {(r + 3) % 4});
        for (int r = 0; r < 4; ++r) {
            const std::int64_t enter = r == 0 && has_example ? 500 : 100;
            p[r].collective(FunctionId::MPI_Neighbor_alltoall,
                            {enter, r == 1 ? std::max<std::int64_t>(520, enter) : enter + 1});
        }
        p[0].collective(FunctionId::MPI_Neighbor_alltoall, {1000, 1001});
        p[1].collective(FunctionId::MPI_Neighbor_alltoall, {1010, 1020});
        p[2].collective(FunctionId::MPI_Neighbor_alltoall, {600, 601});
        p[3].collective(FunctionId::MPI_Neighbor_alltoall, {600, 601});
        p[1].finish(1200);
        p.finish(1100);
        const std::string all = path(p);
        return all.substr(all.rfind(" | ", all.rfind(" | ") - 1) + 3);
    };
    EXPECT_EQ(last_part(true), "collective 0>1: 1000-1020 | compute 1: 1020-1200");
    EXPECT_EQ(last_part(false), "mpi 1: 1010-1020 | compute 1: 1020-1200");
}

// ---- amounts of nothing

TEST(Amounts, WhoGivesNothingIsNotWaitedFor)
{
    Program p(3);
    p[0].part(FunctionId::MPI_Allgatherv, {10, 53}, 8, 16);
    p[1].part(FunctionId::MPI_Allgatherv, {50, 53}, 8, 16);
    p[2].part(FunctionId::MPI_Allgatherv, {70, 71}, 0, 16);
    p[0].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 1: 0-50 | collective 1>0: 50-53 | compute 0: 53-120");
    Program q(3);
    q[0].part(FunctionId::MPI_Gatherv, {10, 53}, 8, 16, Program::world(), 0);
    q[1].part(FunctionId::MPI_Gatherv, {50, 51}, 8, 0, Program::world(), 0);
    q[2].part(FunctionId::MPI_Gatherv, {52, 54}, 0, 0, Program::world(), 0);
    q[0].finish(120);
    q.finish(100);
    EXPECT_EQ(path(q), "compute 1: 0-50 | collective 1>0: 50-53 | compute 0: 53-120");
}

TEST(Amounts, WhoGetsNothingWaitsForNobody)
{
    Program p(3);
    p[0].part(FunctionId::MPI_Reduce_scatter, {10, 73}, 16, 8);
    p[1].part(FunctionId::MPI_Reduce_scatter, {50, 51}, 16, 0);
    p[2].part(FunctionId::MPI_Reduce_scatter, {70, 73}, 16, 8);
    p[1].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 1: 0-50 | mpi 1: 50-51 | compute 1: 51-120");
    Program q(3);
    q[0].part(FunctionId::MPI_Scatterv, {50, 51}, 16, 8, Program::world(), 0);
    q[1].part(FunctionId::MPI_Scatterv, {40, 60}, 0, 0, Program::world(), 0);  // for another reason
    q[2].part(FunctionId::MPI_Scatterv, {40, 53}, 0, 8, Program::world(), 0);
    q[1].finish(120);
    q.finish(100);
    EXPECT_EQ(path(q), "compute 1: 0-40 | mpi 1: 40-60 | compute 1: 60-120");
}

// All have come before the first leaves, as it happens; nobody has waited.
TEST(Amounts, WhereThereIsNothingAtAllNobodyWaits)
{
    Program p(2);
    p[0].part(FunctionId::MPI_Allreduce, {50, 54}, 0, 0);
    p[1].part(FunctionId::MPI_Allreduce, {52, 55}, 0, 0);
    p[0].finish(120);
    p.finish(100);
    EXPECT_EQ(path(p), "compute 0: 0-50 | mpi 0: 50-54 | compute 0: 54-120");
    Program q(2);  // but an implementation may wait
    q[0].part(FunctionId::MPI_Allreduce, {10, 54}, 0, 0);
    q[1].part(FunctionId::MPI_Allreduce, {52, 55}, 0, 0);
    q[0].finish(120);
    q.finish(100);
    EXPECT_EQ(path(q), "compute 1: 0-52 | collective 1>0: 52-54 | compute 0: 54-120");
    Program r(2);  // and a barrier does
    r[0].part(FunctionId::MPI_Barrier, {50, 54}, 0, 0);
    r[1].part(FunctionId::MPI_Barrier, {52, 55}, 0, 0);
    r[0].finish(120);
    r.finish(100);
    EXPECT_EQ(path(r), "compute 1: 0-52 | collective 1>0: 52-54 | compute 0: 54-120");
}

// Totals do not say who gives to whom. It was whoever came when that fits the end.
TEST(Amounts, SomeGiveToSome)
{
    Program p(4);
    p[0].part(FunctionId::MPI_Alltoallv, {10, 53}, 8, 8);
    p[1].part(FunctionId::MPI_Alltoallv, {50, 93}, 8, 8);
    p[2].part(FunctionId::MPI_Alltoallv, {52, 93}, 8, 8);  // gives to 3
    p[3].part(FunctionId::MPI_Alltoallv, {90, 93}, 8, 8);
    p[0].finish(120);
    p.finish(100);
    const auto knows = [](replayer::rules::Calibration& calibration) {
        for (int members = 0; members < 4; ++members)
            calibration.collectives.set({FunctionId::MPI_Alltoallv, replayer::rules::size_bucket(8), members},
                                        std::chrono::microseconds{3});
    };
    EXPECT_EQ(replay(load(p, MPI_COMM_SELF, replayer::Rules::Arrival), knows).path(),
              "compute 1: 0-50 | collective? 1>0: 50-53 | compute 0: 53-120");
}

// Of two that came at that moment, the call itself needs no message.
TEST(Amounts, OfEqualsTheOwnPartIsThere)
{
    const auto knows = [](replayer::rules::Calibration& calibration) {
        for (int members = 0; members < 4; ++members)
            calibration.collectives.set({FunctionId::MPI_Alltoallv, replayer::rules::size_bucket(8), members},
                                        std::chrono::microseconds{30});
    };
    for (const int last : {1, 2}) {
        Program p(4);
        p[0].part(FunctionId::MPI_Alltoallv, {10, 11}, 8, 8);
        p[1].part(FunctionId::MPI_Alltoallv, {50, 80}, 8, 8);
        p[2].part(FunctionId::MPI_Alltoallv, {50, 80}, 8, 8);
        p[3].part(FunctionId::MPI_Alltoallv, {70, 100}, 8, 8);
        p[last].finish(120);
        p.finish(110);
        EXPECT_EQ(replay(load(p, MPI_COMM_SELF, replayer::Rules::Arrival), knows).path(),
                  fmt::format("compute {0}: 0-50 | collective? {0}: 50-80 | compute {0}: 80-120", last));
    }
}

/// A broadcast that its member left late, though the root had come before: whether it waited for the root depends on
/// how long broadcasts take at least.
TEST(RootedCollectives, AreDecidedWhenAllThatCountsIsKnown)
{
    namespace rules = replayer::rules;
    using model::Ns;
    const auto decide = [](std::int64_t root_enter, std::int64_t leave, std::optional<std::int64_t> least) {
        rules::Instance instance;
        instance.root = {{{0}, {0}}, Ns{root_enter}};
        instance.bytes = 8;
        instance.members = 2;
        const functions::FunctionId bcast = functions::FunctionId::MPI_Bcast;
        const rules::Waiting call{{{1}, {0}}, Ns{100'000}, Ns{leave}, Ns{leave - 110'000}, Ns{1'000}};
        const rules::Member member{
            {call.call, call.enter}, call.leave, bcast, 1, 0, false, 8, true, true, {0}, {}, true};
        rules::Calibration calibration;
        calibration.collectives_unseen = !least;
        if (least)
            calibration.collectives.set({bcast, rules::size_bucket(8), rules::size_bucket(2)}, Ns{*least});
        const rules::CollectiveCase c{rules::operation(bcast), false, false, 2, &instance};
        return rules::collective_predecessor(replayer::Rules::Arrival, call, member, c, calibration).predecessor.route;
    };
    using rules::Route;
    EXPECT_EQ(decide(95'000, 115'000, 0), Route::Work);
    EXPECT_EQ(decide(95'000, 115'000, 20'000), Route::Collective);
    EXPECT_EQ(decide(95'000, 115'000, std::nullopt), Route::Ask);
    // Where the root came later than anything else explains, that does not matter.
    for (const auto least :
         {std::optional<std::int64_t>(0), std::optional<std::int64_t>(20'000), std::optional<std::int64_t>()})
        EXPECT_EQ(decide(112'000, 115'000, least), Route::Collective);
    // So long after the root, only a slow machine explains it.
    EXPECT_EQ(decide(112'000, 250'000, 100'000), Route::Collective);
    EXPECT_EQ(decide(112'000, 250'000, 0), Route::Ask);
    EXPECT_EQ(decide(112'000, 250'000, std::nullopt), Route::Ask);
}

/// Only the root of a reduction waits, for rank 1, which comes late or early.
std::string reduction(std::int64_t post_of_rank_1, const auto& post)
{
    Program p(2);
    const Request taken = post(p[0], Span{200, 201});
    p[0].wait_collective({202, std::max<std::int64_t>(210, post_of_rank_1 + 5)}, taken, 0);
    const Request given = post(p[1], Span{post_of_rank_1, post_of_rank_1 + 1});
    p[1].wait_collective({post_of_rank_1 + 2, post_of_rank_1 + 4}, given, 0);
    p[0].finish(700);
    p[1].finish(650);
    return path(p);
}

TEST(Dependence, APersistentCollectiveDependsAsTheNonBlockingOne)
{
    const auto non_blocking = [](auto& rank, Span span) { return rank.icollective(FunctionId::MPI_Ireduce, span); };
    const auto started = [](auto& rank, Span span) { return rank.start_collective(FunctionId::MPI_Ireduce, span); };
    EXPECT_THAT(reduction(400, non_blocking), testing::StartsWith("compute 1: 0-400 | collective 1>0: 400-405"));
    EXPECT_EQ(reduction(400, started), reduction(400, non_blocking));
    EXPECT_THAT(reduction(50, non_blocking), testing::StartsWith("compute 0: 0-200"));
    EXPECT_EQ(reduction(50, started), reduction(50, non_blocking));
}

/// It goes on beside the computation, which has slack.
TEST(Dependence, ANonBlockingCollectiveOfOneRankTakesItsTime)
{
    Program p(1);
    const Request posted = p[0].icollective(FunctionId::MPI_Iallreduce, {100, 101});
    p[0].wait_collective({120, 130}, posted);
    const Request over = p[0].icollective(FunctionId::MPI_Iallreduce, {200, 201});
    p[0].wait_collective({300, 301}, over);
    p.finish(400);
    EXPECT_THAT(replay(load(p, MPI_COMM_SELF, replayer::Rules::Arrival), iallreduce_takes(30)).path(),
                testing::HasSubstr("compute 0: 0-100 | collective 0: 100-130 | compute 0: 130-200"));
}

}  // namespace
}  // namespace critpath::tests

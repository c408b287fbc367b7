// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Why the rank on the path takes longer than its peers, where the program says it.
#include "replayer/peers/gaps.hpp"
#include "tests/builder/replayed.hpp"
#include "tests/rules/steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace critpath::tests
{
namespace
{

TEST(Peers, OneRankHasTwiceTheWorkAlways)
{
    Program p(4);
    run_steps(p, 11, [](int rank, int) { return Work{rank == 2 ? 200 : 100}; });
    const Replayed r = replay(p);
    const model::Stretch s = step_of(r);
    EXPECT_EQ(s.path_ns, 10 * 200 * us);
    EXPECT_EQ(s.gaps, 10);
    EXPECT_EQ(s.compared, 10);
    EXPECT_EQ(s.slowest, 10);
    EXPECT_EQ(s.counted, 0);
    EXPECT_EQ(s.peers_ns, 10 * 100 * us);
    EXPECT_EQ(s.processor_ns, 10 * 100 * us);
    EXPECT_EQ(sum_of_parts(s), s.processor_ns);
    EXPECT_EQ(s.ranks, 4);
    EXPECT_EQ(s.occurrences, 10);
    // One of four differs from the other three by ln 2: the variance is (ln 2)^2 / 4.
    EXPECT_NEAR(static_cast<double>(s.rank_variance), 1e9 * std::log(2.0) * std::log(2.0) / 4, 10);
    EXPECT_EQ(s.noise_variance, 0);
    // That one is all of the path's, and against the mean of the others as one of two.
    EXPECT_NEAR(static_cast<double>(s.carrier_variance), 1e9 * std::log(2.0) * std::log(2.0) / 2, 2e5);
    ASSERT_FALSE(r.profile.stretch_shares.empty());
    EXPECT_EQ(r.profile.stretch_shares[0].stretch, 0U);
    EXPECT_EQ(r.profile.stretch_shares[0].process.value, 2U);
    EXPECT_EQ(r.profile.stretch_shares[0].ns, s.path_ns);
    EXPECT_EQ(r.profile.stretch_shares[0].gaps, 10);
    EXPECT_EQ(r.profile.stretch_shares[0].longer_ns, 10 * 100 * us);
    EXPECT_EQ(s.much_longer, 10);
    EXPECT_EQ(s.slow_ranks, 1);
    EXPECT_EQ(s.slowest_rank, 2);
    EXPECT_EQ(s.fastest_rank, 0);  // of three that are equal
    EXPECT_NEAR(static_cast<double>(s.fastest_time), 1e9 / 2, 10);
    // The work in front of the first Allreduce is another place.
    EXPECT_EQ(stretch(r, "MPI_Barrier", "MPI_Allreduce").path_ns, 200 * us);
}

TEST(Peers, WorkThatWandersIsTransient)
{
    Program p(4);
    run_steps(p, 13, [](int rank, int step) { return Work{step % 4 == rank ? 200 : 100}; });
    const Replayed r = replay(p);
    const model::Stretch s = step_of(r);
    EXPECT_EQ(s.path_ns, 12 * 200 * us);
    EXPECT_EQ(s.peers_ns, 12 * 100 * us);
    EXPECT_EQ(s.slowest, 12);
    EXPECT_EQ(s.rank_variance, 0);
    EXPECT_EQ(s.carrier_variance, 0);
    EXPECT_GT(s.noise_variance, 1e9 * std::log(2.0) * std::log(2.0) / 5);
    EXPECT_GE(r.profile.stretch_shares.size(), 4U);
}

/// Of the variance between ranks it makes a 40th, which is less than chance.
TEST(Peers, OneOfManyRanksHasTwiceTheWorkAlways)
{
    constexpr int ranks = 40;
    Program p(ranks);
    run_steps(p, 21, [](int rank, int step) {
        return Work{(rank == 7 ? 200 : 100) * (1000 + (rank * 7919 + step * 104729) % 401 - 200) / 1000};
    });
    const model::Stretch s = step_of(replay(p));
    EXPECT_EQ(s.ranks, ranks);
    EXPECT_EQ(s.slowest_rank, 7);
    EXPECT_LT(s.rank_variance, s.noise_variance);
    EXPECT_NEAR(static_cast<double>(s.carrier_variance), 1e9 * std::log(2.0) * std::log(2.0) / 2, 5e7);
    EXPECT_GT(s.carrier_variance, 10 * s.noise_variance);
}

TEST(Peers, OneRankHasLessToDoThanAllOthers)
{
    Program p(5);
    run_steps(p, 9, [](int rank, int step) { return Work{rank == 3 ? 10 : 100 + (rank + step) % 4}; });
    const model::Stretch s = step_of(replay(p));
    EXPECT_GT(s.compared_ns, s.peers_ns * 3 / 2);  // although all but one take as long
    EXPECT_GT(rank_share(s), 0.99);
    EXPECT_EQ(s.slow_ranks, 4);
    EXPECT_EQ(s.fastest_rank, 3);
    EXPECT_NEAR(static_cast<double>(s.fastest_time), 1e8, 5e6);
}

/// Most times have next to nothing to do, and rank 2 takes twice as long for that. What it has to do in the others, it
/// does as fast as its peers.
TEST(Peers, WhatIsNextToNothingDoesNotCount)
{
    Program p(3);
    const auto has_work = [](int step) { return step % 11 == 5; };
    run_steps(p, 45, [&](int rank, int step) {
        return Work{has_work(step) ? (rank == 2 ? 51'000 : 50'000) : (rank == 2 ? 10 : 5)};
    });
    model::Stretch s = step_of(replay(p));
    EXPECT_EQ(s.compared, 44);
    EXPECT_EQ(s.telling, 4);
    EXPECT_EQ(s.slowest, 4);
    EXPECT_EQ(s.much_longer, 0);

    // Who takes next to nothing where the others have work is no less of a case.
    Program turns(2);
    run_steps(turns, 45, [&](int rank, int step) { return Work{has_work(step) == (rank == 1) ? 50'000 : 5}; });
    s = step_of(replay(turns));
    EXPECT_EQ(s.compared, 44);
    EXPECT_EQ(s.telling, 44);
    EXPECT_EQ(s.much_longer, 44);
}

TEST(Peers, OneRankIsSlowNowAndThen)
{
    Program p(3);
    constexpr int steps = 36;  // the first is another place
    run_steps(p, steps, [](int rank, int step) { return Work{rank == 2 && step % 7 == 6 ? 600 : 100}; });
    const Replayed r = replay(p);
    const model::Stretch s = step_of(r);
    EXPECT_EQ(s.much_longer, steps / 7);
    EXPECT_LT(rank_share(s), 0.2);
    for (const model::StretchShare& share : r.profile.stretch_shares) {
        if (share.stretch != 0)  // the costliest, this one
            continue;
        EXPECT_EQ(share.longer_ns, share.process.value == 2 ? steps / 7 * 500 * us : 0);
    }
    EXPECT_EQ(s.compared_ns - s.peers_ns, steps / 7 * 500 * us);
}

/// What the machine does to all ranks, at random: each fifth time, one is preempted for so long.
std::int64_t preempted_by_chance(int rank, int step, std::int64_t length)
{
    return (rank * 7919 + step * 104729) % 1009 % 5 == 0 ? length : 0;
}

/// Of all its time, that would be chance for the most part.
TEST(Peers, OneRankHasTwiceTheWorkAlwaysOnABusyMachine)
{
    Program p(3);
    run_steps(p, 101, [](int rank, int step) {
        return Work{.on = rank == 1 ? 200 : 100, .preempted = preempted_by_chance(rank, step, 100)};
    });
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = step_of(r);
    EXPECT_GT(2 * s.processor_ns, s.preempted_ns);
    EXPECT_EQ(s.noise_variance, 0);
    EXPECT_GT(s.carrier_variance, 0);
    EXPECT_EQ(s.slowest_rank, 1);
    EXPECT_NEAR(static_cast<double>(s.fastest_time), 1e9 / 2, 10);
}

/// However long it is preempted by chance, the program is as it is.
TEST(Peers, OneRankHasTwiceTheWorkAlwaysOnAVeryBusyMachine)
{
    Program p(3);
    run_steps(p, 101, [](int rank, int step) {
        return Work{.on = rank == 1 ? 200 : 100, .preempted = preempted_by_chance(rank, step, 1000)};
    });
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = step_of(r);
    EXPECT_GT(s.preempted_ns, 2 * s.processor_ns);
    EXPECT_EQ(s.not_preempted, 1);
    EXPECT_EQ(s.noise_variance, 0);
    EXPECT_GT(rank_share(s), 0.99);
    EXPECT_EQ(s.slowest_rank, 1);
    EXPECT_NEAR(static_cast<double>(s.fastest_time), 1e9 / 2, 10);
}

TEST(Peers, WhoIsPreemptedByChanceIsSoNowAndThen)
{
    Program p(3);
    run_steps(p, 101,
              [](int rank, int step) { return Work{.on = 100, .preempted = preempted_by_chance(rank, step, 400)}; });
    EXPECT_LT(rank_share(step_of(replay(p))), 0.1);
}

/// A fourth more work on one rank persists, but the difference is something else.
TEST(Peers, WhoHasSomeMoreWorkIsPreemptedByChanceAllTheSame)
{
    Program p(3);
    run_steps(p, 101, [](int rank, int step) {
        return Work{.on = rank == 1 ? 125 : 100, .preempted = preempted_by_chance(rank, step, 400)};
    });
    const model::Stretch s = step_of(replay(p));
    EXPECT_GT(s.preempted_ns, 3 * s.processor_ns);
    EXPECT_LT(rank_share(s), 0.5);
    EXPECT_EQ(s.not_preempted, 0);
}

/// Its work is chance, and much less of the difference.
TEST(Peers, OneRankLacksAProcessorAlways)
{
    Program p(3);
    run_steps(p, 101, [](int rank, int step) {
        return Work{.on = 100 + (rank * 7919 + step * 104729) % 1009 % 31, .preempted = rank == 1 ? 300 : 0};
    });
    const model::Stretch s = step_of(replay(p));
    EXPECT_GT(s.preempted_ns, 3 * s.processor_ns);
    EXPECT_GT(rank_share(s), 0.9);
    EXPECT_EQ(s.slowest_rank, 1);
    EXPECT_LT(s.fastest_time, 400'000'000);
}

/// One of ten times it is blocked for long, and always it has as much more work: in as many other runs, the one may be
/// anything between nothing and twice as much.
TEST(Peers, WhatHappensSeldomIsKnownForItsSum)
{
    constexpr int times = 40;
    Program p(3);
    run_steps(p, times + 1, [](int rank, int step) {
        return Work{.on = rank == 1 ? 200 : 100, .blocked = rank == 1 && step % 10 == 9 ? 1000 : 0};
    });
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = step_of(r);
    EXPECT_EQ(s.compared, times);
    EXPECT_EQ(s.processor_ns, times * 100 * us);
    EXPECT_EQ(s.work_spread_ns, 0);
    EXPECT_EQ(s.preempted_spread_ns, 0);
    constexpr double seldom = times / 10;
    EXPECT_EQ(s.blocked_ns, static_cast<std::int64_t>(seldom) * 1000 * us);
    EXPECT_NEAR(static_cast<double>(s.blocked_spread_ns),
                1.96 * 1e6 * std::sqrt(seldom * (1 - seldom / times) * times / (times - 1)), 2);
    EXPECT_EQ(rank_of(r, 1).blocked_spread_ns, s.blocked_spread_ns);
}

/// Of ranks that differ, the sum varies for that.
TEST(Peers, TheSpreadIsThatOfAllRanksTogether)
{
    Program p(3);
    run_steps(p, 21, [](int rank, int step) { return Work{step % 2 == rank ? 200 : 100}; });
    const model::Stretch s = step_of(replay(p));
    EXPECT_EQ(s.work_ns(), 20 * 100 * us);
    EXPECT_EQ(s.work_spread_ns, 0);
    Program other(3);
    run_steps(other, 21, [](int rank, int step) { return Work{step % 2 == rank ? (rank == 0 ? 200 : 400) : 100}; });
    const Replayed r = replay(other);
    EXPECT_EQ(rank_of(r, 0).work_spread_ns, 0);
    EXPECT_EQ(rank_of(r, 1).work_spread_ns, 0);
    EXPECT_NEAR(static_cast<double>(step_of(r).work_spread_ns), 1.96 * 100 * us * std::sqrt(20.0 * 20 / 19), 2);
}

TEST(Peers, TheCostliestTimeIsOneThatCanBeLookedAt)
{
    Program p(3);
    run_steps(p, 36, [](int rank, int step) {
        const bool is_costliest = (rank == 1 && step == 13) || (rank == 0 && step == 20) || (rank == 0 && step == 27);
        return Work{is_costliest ? 900 : rank == 2 && step == 6 ? 600 : 100};
    });
    const model::Stretch s = step_of(replay(p));
    EXPECT_EQ(s.costliest_ns, 800 * us);
    EXPECT_EQ(s.costliest_length_ns, 900 * us);
    EXPECT_EQ(s.costliest_rank, 0) << "the first rank of those that take as long";
    constexpr std::int64_t begin = 10 + 20 * 102 + 500 + 800;  // step 20, behind those of 600 and 900 us
    EXPECT_EQ(s.costliest_begin_ns, begin * us);

    Program equal(3);
    run_steps(equal, 9, [](int, int) { return Work{}; });
    EXPECT_EQ(step_of(replay(equal)).costliest_rank, -1);
    EXPECT_EQ(step_of(replay(equal)).costliest_ns, 0);

    // Gaps that stand for others take no longer for that.
    Program many(3);
    run_steps(many, 20'000, [](int rank, int) { return Work{rank == 1 ? 7 : 2}; });
    const model::Stretch of_many = step_of(replay(many));
    EXPECT_LT(of_many.looked_at, of_many.gaps);
    EXPECT_EQ(of_many.costliest_ns, 5 * us);
}

TEST(Peers, APreemptedRankAndABlockedOne)
{
    Program p(3);
    run_steps(p, 6, [](int rank, int) { return Work{100, rank == 1 ? 75 : 0, rank == 1 ? 25 : 0}; });
    const model::Stretch s = step_of(replay(p));
    EXPECT_EQ(s.compared_ns - s.peers_ns, 5 * 100 * us);
    EXPECT_EQ(s.preempted_ns, 5 * 75 * us);
    EXPECT_EQ(s.blocked_ns, 5 * 25 * us);
    EXPECT_EQ(s.processor_ns, 0);
    EXPECT_EQ(s.own_preempted_ns, 5 * 75 * us);
    EXPECT_EQ(s.own_blocked_ns, 5 * 25 * us);
}

/// Together they are blocked less than their peers, since a rank that is blocked always is the peer of the other one.
TEST(Peers, RanksThatAreSlowForDifferentReasonsAreToldApart)
{
    Program p(2);
    run_steps(p, 51, [](int rank, int step) {
        return Work{rank == 1 && step % 15 == 10 ? 20'100 : 100, 0, rank == 0 ? 1000 : 0};
    });
    const Replayed r = replay(p);
    const model::Stretch s = step_of(r);
    EXPECT_EQ(s.slowest_rank, 0);
    EXPECT_GT(rank_share(s), 0.5);
    EXPECT_EQ(s.blocked_ns, (47 - 3) * 1000 * us);
    const model::StretchRank blocked = rank_of(r, 0);
    EXPECT_EQ(blocked.compared, 47);
    EXPECT_EQ(blocked.compared_ns, 47 * 1100 * us);
    EXPECT_EQ(blocked.own_blocked_ns, 47 * 1000 * us);
    EXPECT_EQ(blocked.blocked_ns, 47 * 1000 * us);
    EXPECT_EQ(blocked.processor_ns, 0);
    const model::StretchRank works = rank_of(r, 1);
    EXPECT_EQ(works.compared, 3);
    EXPECT_EQ(works.own_blocked_ns, 0);
    EXPECT_EQ(works.longer_ns(), 3 * 19'000 * us);
    EXPECT_EQ(works.blocked_ns, -3 * 1000 * us);
    EXPECT_EQ(works.processor_ns, works.longer_ns() - works.blocked_ns);
    for (const model::DifferenceNumber& number : model::difference_numbers)
        if (std::ranges::find(model::spreads, number.member) == std::end(model::spreads)) {
            EXPECT_EQ(s.*number.member, blocked.*number.member + works.*number.member) << number.name;
        }
}

TEST(Peers, OnlyRanksWithANotablePartAreToldApart)
{
    constexpr int ranks = 40;
    for (const std::int64_t most : {200, 1500}) {
        Program p(ranks);
        run_steps(p, ranks + 1, [&](int rank, int step) {
            return Work{step % ranks != rank ? 100 : rank == 7 ? most : 200};
        });
        const Replayed r = replay(p);
        EXPECT_EQ(step_of(r).compared_ns - step_of(r).peers_ns, (39 * 100 + most - 100) * us);
        EXPECT_EQ(std::ranges::count(r.profile.stretch_ranks, 0U, &model::StretchRank::stretch), most == 200 ? 0 : 1);
        EXPECT_EQ(rank_of(r, 7).longer_ns(), most == 200 ? 0 : (most - 100) * us);
        EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    }
}

TEST(Peers, ASlowNodeIsNotASlowRank)
{
    Program nodes(6);
    nodes.nodes({"a", "a", "b", "b", "c", "c"});
    run_steps(nodes, 9, [](int rank, int step) { return Work{(rank / 2 == 1 ? 200 : 100) + step % 2}; });
    const model::Stretch slow_node = step_of(replay(nodes));
    EXPECT_EQ(slow_node.nodes, 3);
    EXPECT_TRUE(slow_node.has_node_model());
    EXPECT_GT(rank_share(slow_node), 0.99);
    EXPECT_GT(slow_node.node_variance, 100'000'000);
    EXPECT_LT(slow_node.node_rest_variance, 1'000'000);

    Program ranks(6);
    ranks.nodes({"a", "a", "b", "b", "c", "c"});
    run_steps(ranks, 9, [](int rank, int) { return Work{rank == 3 ? 200 : 100}; });
    const model::Stretch slow_rank = step_of(replay(ranks));
    EXPECT_GT(rank_share(slow_rank), 0.99);
    EXPECT_LT(slow_rank.node_variance, slow_rank.node_rest_variance / 10);

    Program one_each(2);
    one_each.nodes({"a", "b"});
    run_steps(one_each, 5, [](int rank, int) { return Work{rank == 1 ? 200 : 100}; });
    EXPECT_FALSE(step_of(replay(one_each)).has_node_model());
}

TEST(Peers, CountersTellWorkFromMemoryFromFrequency)
{
    struct Case {
        std::int64_t instructions, cycles;
        std::int64_t model::Stretch::*part;
    };
    for (const auto& [instructions, cycles, part] :
         {Case{200'000, 200'000, &model::Stretch::instructions_ns}, Case{100'000, 200'000, &model::Stretch::cycles_ns},
          Case{100'000, 100'000, &model::Stretch::frequency_ns}}) {
        Program p(3);
        run_steps(p, 5, [i = instructions, c = cycles](int rank, int) {
            return rank == 1 ? Work{200, 0, 0, i, c} : Work{100, 0, 0, 100'000, 100'000};
        });
        const model::Stretch s = step_of(replay(p));
        EXPECT_EQ(s.counted, 4);
        EXPECT_EQ(s.*part, 4 * 100 * us);
        EXPECT_EQ(sum_of_parts(s), 4 * 100 * us);
    }
}

TEST(Peers, WhatOneRankHasNotCountedIsNotTold)
{
    Program p(3);
    run_steps(p, 5, [](int rank, int) {
        return rank == 1 ? Work{200, 0, 0, 200'000, 200'000} : Work{100, 0, 0, rank == 0 ? 100'000 : -1, 100'000};
    });
    const model::Stretch s = step_of(replay(p));  // rank 2 has counted nothing: a step has no readings without both
    EXPECT_EQ(s.own_instructions, 4);
    EXPECT_EQ(s.counted_instructions, 0);
    EXPECT_EQ(s.counted, 0);
    EXPECT_EQ(s.processor_ns, 4 * 100 * us);
    EXPECT_EQ(s.instructions_ns, 0);
    EXPECT_EQ(s.fewest_samples_rank, -1);
}

TEST(Peers, InstructionsWithoutCyclesTellWorkFromSlowness)
{
    Program p(3);
    run_steps(p, 5, [](int rank, int) {
        return rank == 1 ? Work{200, 0, 0, 200'000, -1} : Work{100, 0, 0, 100'000, rank == 0 ? -1 : 100'000};
    });
    const model::Stretch s = step_of(replay(p));
    EXPECT_EQ(s.counted, 0);
    EXPECT_EQ(s.counted_instructions, 4);
    EXPECT_EQ(s.own_cycles, 0);
    EXPECT_EQ(s.instructions_ns, 4 * 100 * us);
    EXPECT_EQ(s.instruction_time_ns, 0);
    EXPECT_EQ(sum_of_parts(s), 4 * 100 * us);
}

TEST(Peers, TheToolsTimeIsNobodys)
{
    Program p(2);
    run_steps(p, 4, [](int rank, int) { return Work{rank == 1 ? 200 : 100}; });
    p[1].tool({220, 320});  // within the second step of rank 1
    const model::Stretch s = step_of(replay(p));
    EXPECT_EQ(s.path_ns, (3 * 200 - 100) * us);
    EXPECT_EQ(s.peers_ns, 3 * 100 * us);
    EXPECT_EQ(sum_of_parts(s), s.compared_ns - s.peers_ns);
}

TEST(Peers, MigrationsAreComparedWithTheMeanPeer)
{
    Program p(4);
    run_steps(p, 11, [](int rank, int) {
        Work work{rank == 2 ? 200 : 100};
        work.preempted = rank == 3 ? 0 : 5;
        work.has_migrated = rank == 0 || rank == 2;
        return work;
    });
    const model::Stretch s = step_of(replay(p));
    EXPECT_EQ(s.compared, 10);
    EXPECT_EQ(s.migrations, 10);
    EXPECT_EQ(s.peers_migrations, 3) << "10 of one of three";
}

// Two calls, with a gap before the second and one behind it, between which it is moved thrice in the second.
TEST(Peers, OfTheMigrationsInACallOneCounts)
{
    const auto time = [](std::int64_t t) { return model::Ns{t * us}; };
    model::LocationTrace trace;
    trace.end = time(100);
    trace.calls.add(time(0), time(10), {0});
    trace.calls.add(time(20), time(40), {1});
    trace.calls.add(time(60), time(65), {0});
    const auto off = [&](std::int64_t begin, std::int64_t end, bool preempted, bool has_migrated) {
        trace.off.push_back({time(begin), time(end), preempted, false, model::WaitsFor::Unknown, has_migrated});
    };
    off(2, 3, false, true);
    off(12, 14, true, true);
    off(15, 16, true, false);
    off(19, 21, true, true);
    off(25, 26, false, true);
    off(30, 31, false, true);
    off(38, 41, true, true);
    off(55, 56, true, true);
    const replayer::SameCalls same;
    replayer::Gaps gaps(trace, same);
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(gaps.measure(1).migrations, 2 * replayer::parts_of_a_migration);
        EXPECT_EQ(gaps.measure(1).preempted, 4 * us);
        EXPECT_EQ(gaps.measure(2).migrations, 3 * replayer::parts_of_a_migration);
        EXPECT_EQ(gaps.measure(2).preempted, 2 * us);
        EXPECT_EQ(gaps.measure(2).blocked, 0);
    }
}

// Where threads meet between two calls, or the path comes from another thread, there is one gap all the same.
TEST(Peers, PointsAndPiecesDoNotDivideGaps)
{
    const auto time = [](std::int64_t t) { return model::Ns{t * us}; };
    replayer::Replay one;
    one.definitions.processes.resize(1);
    one.definitions.processes[0].locations = {{0}};
    one.definitions.locations.push_back({"rank 0", {0}, 0, 0});
    model::LocationTrace trace;
    trace.location = {0};
    trace.end = time(60);
    trace.calls.add(time(0), time(10), {0});
    trace.calls.add_point(time(15));
    trace.calls.add(time(20), time(25), {1});
    trace.calls.add_point(time(40));
    trace.calls.add(time(50), time(55), {0});
    trace.calls.add(time(70), time(75), {0});  // behind the end
    trace.counted = {{}, {5, 7}};
    trace.tool = {{time(12), time(13)}};
    one.processes.resize(1);
    one.processes[0].locations.push_back(trace);
    const replayer::SameCalls same;
    std::vector<replayer::Gaps> gaps = {replayer::Gaps(one.processes[0].locations[0], same)};
    ASSERT_EQ(gaps[0].end(), 3U);
    EXPECT_EQ(gaps[0].place(1), (replayer::GapPlace{{0}, {1}}));
    EXPECT_EQ(gaps[0].measure(1).ns, 9 * us);
    EXPECT_EQ(gaps[0].measure(1).counted.cycles, 7);
    EXPECT_EQ(gaps[0].measure(2).ns, 25 * us);
    EXPECT_FALSE(gaps[0].measure(2).has_cycles());
    replayer::Gap both = gaps[0].measure(1);
    both.add(gaps[0].measure(2));
    EXPECT_EQ(both.ns, 34 * us);
    EXPECT_FALSE(both.has_cycles()) << "of one part they are not known";

    replayer::Path path;
    const auto piece = [&](std::int64_t begin, std::int64_t stretch, std::int64_t end) {
        path.pieces.push_back({begin * us, stretch * us, end * us, 0, 0, 0, replayer::Piece::nothing});
    };
    piece(0, 0, 15);
    piece(16, 18, 22);  // a jump leads here
    piece(30, 30, 60);
    std::vector<std::pair<std::size_t, std::int64_t>> on_path;
    for_each_gap_on_path(one, path, gaps, [&](const replayer::GapOnPath& g) { on_path.emplace_back(g.gap, g.ns); });
    EXPECT_EQ(on_path, (std::vector<std::pair<std::size_t, std::int64_t>>{{1, (5 - 1 + 2) * us}, {2, 20 * us}}));
}

/// Before its first call a rank may do much, too: rank 2, for 900 us of the 1000 that others wait for it.
TEST(Peers, WhatIsBeforeTheFirstCallIsAStretch)
{
    Program p(4);
    for (int rank = 0; rank < 4; ++rank) {
        const std::int64_t enter = rank == 2 ? 1000 : 100;
        p[rank].off({10, enter / 2}, true);
        p[rank].collective(FunctionId::MPI_Barrier, {enter, 1001});
        p[rank].collective(FunctionId::MPI_Barrier, {1020, 1021});
    }
    p.finish(1022);
    const Replayed r = replay(p);
    ASSERT_FALSE(r.profile.stretches.empty());
    EXPECT_FALSE(r.profile.stretches[0].before.valid());
    const model::Stretch s = stretch(r, "start", "MPI_Barrier");
    EXPECT_EQ(s.path_ns, 1000 * us);
    EXPECT_EQ(s.gaps, 1);
    EXPECT_EQ(s.before_site, 0);
    EXPECT_EQ(s.compared, 1);
    EXPECT_NEAR(static_cast<double>(s.peers_ns), 100.0 * us, 1) << "the three others";
    EXPECT_EQ(s.own_preempted_ns, 490 * us);
    EXPECT_EQ(sum_of_parts(s), s.compared_ns - s.peers_ns);
    EXPECT_EQ(s.ranks, 4);
    EXPECT_EQ(s.slowest_rank, 2);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
}

/// Their first calls are others, so that the start of the process is all that they share.
TEST(Peers, StartsAreComparedWhateverFirstCallTheyLeadTo)
{
    Program p(3);
    p[2].send({1000, 1001}, 0);
    p[2].send({1001, 1002}, 1);
    p[0].recv({100, 1002}, 2);
    p[1].recv({100, 1003}, 2);
    p.finish(1004);
    const model::Stretch s = stretch(replay(p), "start", "MPI_Send");
    EXPECT_EQ(s.compared_by, static_cast<std::int64_t>(model::ComparedBy::CallBefore));
    EXPECT_EQ(s.compared, 1);
    EXPECT_NEAR(static_cast<double>(s.peers_ns), 100.0 * us, 1);
}

// All computation between calls is part of a stretch, as far as there is room for them.
TEST(Peers, StretchesAddUpToTheComputation)
{
    Program p(4);
    run_steps(p, 8, [](int rank, int step) { return Work{100 + (rank * 37 + step * 51) % 90}; });
    const Replayed r = replay(p);
    std::int64_t stretches = 5 * us + us;  // in front of the first call, and at the end: too little to be told
    for (const model::Stretch& s : r.profile.stretches)
        stretches += s.path_ns;
    std::int64_t compute = 0;
    for (const model::KindTime& kind : r.profile.kinds)
        compute += kind.kind == model::SegmentKind::Compute ? kind.ns : 0;
    EXPECT_EQ(stretches, compute);
}

TEST(Peers, AnyNumberOfProcessesFindsTheSame)
{
    std::mt19937 random(5);
    for (int round = 0; round < 5; ++round) {
        Program p(5);
        p.nodes({"a", "b", "a", "b", "c"});
        std::vector<std::int64_t> noise(5 * 40);
        for (std::int64_t& n : noise)
            n = static_cast<std::int64_t>(random() % 100);
        run_steps(p, 40, [&](int rank, int step) {
            const std::int64_t n = noise[static_cast<std::size_t>(rank * 40 + step)];
            return Work{50 + n, n % 7 == 0 ? n : 0, n % 11 == 0 ? 3 : 0, 1000 * n + 17, 1700 * n + round};
        });
        const Replayed together = replay(p);
        EXPECT_EQ(text(together.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
        for (const model::Stretch& s : together.profile.stretches)
            EXPECT_EQ(sum_of_parts(s), s.compared_ns - s.peers_ns);
    }
}

// More gaps than travel in one round, and than are looked at.
/// Of four calls at one place, three come right behind the one before: what they say of ranks is chance.
TEST(Peers, EmptyGapsOfALoopSayNothingOfRanks)
{
    Program p(3);
    std::int64_t time = 10;
    for (int step = 0; step < 40; ++step)
        for (int call = 0; call < 4; ++call) {
            const auto work = [&](int rank) {
                return call == 0 ? (rank == 1 ? 3000 : 1000) : 1 + (7 * step + 5 * rank + 3 * call) % 4;
            };
            const std::int64_t leave = time + (call == 0 ? 3002 : 6);
            for (int rank = 0; rank < 3; ++rank)
                p[rank].collective(FunctionId::MPI_Allreduce, {time + work(rank), leave});
            time = leave;
        }
    p.finish(time + 1);
    const Replayed r = replay(p);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    const model::Stretch s = step_of(r);
    EXPECT_EQ(s.ranks, 3);
    EXPECT_EQ(s.occurrences, 39);
    EXPECT_GT(rank_share(s), 0.99);
    EXPECT_EQ(s.slowest_rank, 1);
    EXPECT_NEAR(static_cast<double>(s.fastest_time), 1e9 / 3, 1e6);
}

TEST(Peers, ManyGaps)
{
    Program p(3);
    constexpr int steps = 6001;
    run_steps(p, steps, [](int rank, int step) { return Work{(step % 3 == rank ? 20 : 10) + (rank == 0 ? 10 : 0)}; });
    const Replayed r = replay(p);
    const model::Stretch s = step_of(r);
    EXPECT_EQ(s.gaps, steps - 1);
    EXPECT_EQ(s.path_ns, (steps - 1) * 70 / 3 * us);  // 30, 20 and 20 us by turns
    EXPECT_LT(s.looked_at, (steps - 1) * 6 / 10);
    EXPECT_GT(s.looked_at, (steps - 1) * 4 / 10);
    EXPECT_EQ(s.compared, 2 * s.looked_at);
    EXPECT_EQ(s.slowest, s.compared);
    EXPECT_EQ(s.compared_ns, s.looked_at_ns);
    EXPECT_EQ(sum_of_parts(s), s.compared_ns - s.peers_ns);
    EXPECT_NEAR(static_cast<double>(s.compared_ns), static_cast<double>(s.path_ns),
                0.05 * static_cast<double>(s.path_ns));
    EXPECT_EQ(s.occurrences, 1024);
    EXPECT_GT(s.rank_variance, 10'000'000);
    EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
}

// Few that are long have all of the difference: none of them is left out, however many short ones there are.
TEST(Peers, LongGapsAreAllLookedAt)
{
    Program p(2);
    constexpr int steps = 9001, period = 500;
    run_steps(p, steps, [](int rank, int step) { return Work{rank == 1 && step % period == 7 ? 50'000 : 10}; });
    const model::Stretch s = step_of(replay(p));
    EXPECT_LT(s.looked_at, (steps - 1) * 6 / 10);
    EXPECT_EQ(s.compared_ns - s.peers_ns, steps / period * (50'000 - 10) * us);
    EXPECT_EQ(s.much_longer, steps / period);
}

}  // namespace
}  // namespace critpath::tests

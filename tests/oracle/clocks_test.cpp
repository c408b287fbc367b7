// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What clocks that are off do to the path of simulated programs, whose truth is known: the path of the same execution
// with true clocks.
#include "tests/oracle/check.hpp"
#include "tests/oracle/off_clocks.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace critpath::oracle
{
namespace
{

// ---- programs, in ticks of 0.1 us

constexpr std::int64_t us = 10;

Machine machine(int ranks_a_node)
{
    Machine result;
    result.tick_ns = 100;
    result.collective = 10 * us;
    result.ranks_a_node = ranks_a_node;
    return result;
}

Program program(int ranks)
{
    Program result{ranks, {{}}, std::vector<std::vector<Step>>(static_cast<std::size_t>(ranks))};
    for (int r = 0; r < ranks; ++r)
        result.comms[0].push_back(r);
    return result;
}

Step allreduce()
{
    return {.kind = Kind::Collective, .function = FunctionId::MPI_Allreduce};
}

/// Ranks that are equally busy: they come to each collective within 5 us (standard deviation; a sum of four numbers).
Program balanced(int ranks, int steps, FunctionId function = FunctionId::MPI_Allreduce)
{
    Program result = program(ranks);
    std::mt19937 random(7);
    for (int s = 0; s < steps; ++s)
        for (auto& of_rank : result.steps) {
            std::int64_t noise = 0;
            for (int i = 0; i < 4; ++i)
                noise += random() % 87;
            of_rank.push_back(compute(1000 * us + noise));
            of_rank.push_back({.kind = Kind::Collective, .function = function});
        }
    return result;
}

/// One rank after the other is late, by so much; in the end the last rank is.
Program rotating(int ranks, int steps, std::int64_t late)
{
    Program result = program(ranks);
    for (int s = 0; s < steps; ++s)
        for (int r = 0; r < ranks; ++r) {
            result.steps[static_cast<std::size_t>(r)].push_back(compute(500 * us + (s * 3 % ranks == r ? late : 0)));
            result.steps[static_cast<std::size_t>(r)].push_back(allreduce());
        }
    result.steps.back().push_back(compute(late));
    return result;
}

/// Neighbours exchange messages, and nobody else ever meets.
Program halo(int ranks, int steps, std::uint32_t spread)
{
    Program result = program(ranks);
    std::mt19937 random(11);
    for (int s = 0; s < steps; ++s)
        for (int r = 0; r < ranks; ++r) {
            auto& steps_of = result.steps[static_cast<std::size_t>(r)];
            steps_of.push_back(compute(300 * us + random() % spread));
            std::vector<int> requests;
            for (const int peer : {r - 1, r + 1})
                for (const Kind kind : {Kind::Irecv, Kind::Isend})
                    if (peer >= 0 && peer < ranks) {
                        requests.push_back(4 * s + static_cast<int>(requests.size()));
                        steps_of.push_back(
                            {.kind = kind,
                             .function = kind == Kind::Irecv ? FunctionId::MPI_Irecv : FunctionId::MPI_Isend,
                             .peer = peer,
                             .request = requests.back()});
                    }
            steps_of.push_back({.kind = Kind::Waitall, .function = FunctionId::MPI_Waitall, .requests = requests});
        }
    return result;
}

// ---- clocks

using Said = Clocks::Said;

Clocks said_to_be_one(Clocks clocks)
{
    clocks.said = Said::OneClock;
    return clocks;
}

// ---- what came out

tests::Replayed replay(const Program& program, const Machine& machine, const Execution& execution,
                       const Clocks& clocks = {})
{
    return analyze(program, machine, execution, Weights::Learned, replayer::Rules::Arrival, clocks);
}

/// Where the path is, from segment to segment, without times.
std::string way(const tests::Replayed& replayed)
{
    std::string words;
    for (const model::Segment& segment : replayed.segments)
        if (static_cast<model::SegmentKind>(segment.kind) != model::SegmentKind::StartDelay)  // that is one clock's own
            words += fmt::format("{}{}>{} ", segment.kind, segment.origin(), segment.location);
    return words;
}

// ---- one node's clock is off by 50 us

/// Balanced ranks are the worst case: without correction the late node is the last one to come nearly always.
TEST(Clocks, OfBalancedRanksTheOneThatIsLateIsNotTakenForCritical)
{
    constexpr int nodes = 16;
    const Program p = balanced(nodes, 200);
    const Machine m = machine(1);
    const Execution e = simulate(p, m);
    const tests::Replayed truth = replay(p, m, e);
    EXPECT_EQ(decided(truth), 0);
    const std::string path = replay(p, m, e, one_off(nodes, 0)).path();
    for (const std::int64_t offset : {-50'000, 5'000, 10'000, 50'000}) {
        EXPECT_EQ(replay(p, m, e, one_off(nodes, offset)).path(), path) << offset;
        for (const Clocks& clocks : {one_off(nodes, offset), measured(one_off(nodes, offset))}) {
            const tests::Replayed replayed = replay(p, m, e, clocks);
            EXPECT_LE(difference(replayed, truth), 0.01) << offset;
            EXPECT_EQ(replayed.fact("clock_violations"), 0) << offset;
            EXPECT_GT(decided(replayed), 0.5) << "who comes last differs by less than the clocks may be off";
        }
    }
    const tests::Replayed wrong = replay(p, m, e, said_to_be_one(one_off(nodes, 50'000)));
    EXPECT_GT(share(wrong, 1), 0.9) << "so this test can fail";
    EXPECT_GT(wrong.fact("clock_violations"), 0);
}

/// All but one are known well, so that the last one of those is known, too: who it was of all is not.
TEST(Clocks, OneThatIsHardlyKnownIsNotForgottenBesideGoodOnes)
{
    const Machine m = machine(1);
    for (const int nodes : {3, 4, 16})
        for (const std::int64_t off : {-20'000, 20'000}) {
            const Program p = balanced(nodes, 400, FunctionId::MPI_Allgatherv);  // whose members may leave at any time
            const Execution e = simulate(p, m);
            Clocks clocks{.nodes = {}, .said = Said::Measured, .half_width_ns = 300, .error_ns = 100};
            clocks.nodes.resize(static_cast<std::size_t>(nodes));
            clocks.nodes[1].more_half_width_ns = 30'000;
            clocks.nodes[1].more_error_ns = off;
            const tests::Replayed replayed = replay(p, m, e, clocks);
            EXPECT_LE(difference(replayed, replay(p, m, e)), 0.01) << nodes << " nodes, off by " << off;
            EXPECT_GT(decided(replayed), 0.5);
        }
}

TEST(Clocks, RanksThatAreClearlyLateAreKnownForSure)
{
    for (const int ranks_a_node : {1, 2}) {
        const Program p = rotating(8, 60, 200 * us);
        const Machine m = machine(ranks_a_node);
        const Execution e = simulate(p, m);
        const tests::Replayed truth = replay(p, m, e);
        for (const Clocks& nothing_said :
             {one_off(8, 50'000), one_off(8, -50'000), random_clocks(8, 1), random_clocks(8, 2)})
            for (const Clocks& clocks : {nothing_said, measured(nothing_said)}) {
                const tests::Replayed replayed = replay(p, m, e, clocks);
                EXPECT_EQ(way(replayed), way(truth));  // each offset is less than half of what one rank is late
                EXPECT_LE(difference(replayed, truth), 0.01);
                EXPECT_EQ(decided(replayed), 0);
                EXPECT_LT(doubted(replayed), 0.05);  // from clock to clock, time is not known better
            }
    }
}

/// A node that is never the last one says nothing about how far its clock may be ahead.
TEST(Clocks, LastArrivalsAreCountedByClock)
{
    const Program p = rotating(4, 40, 200 * us);
    const Machine m = machine(1);
    const tests::Replayed replayed = replay(p, m, simulate(p, m), one_off(4, 50'000));
    ASSERT_EQ(replayed.profile.clocks.size(), 4);
    for (const model::ClockTotals& clock : replayed.profile.clocks) {
        EXPECT_EQ(clock.last_arrivals, 10) << clock.node;
        EXPECT_EQ(clock.processes, 1) << clock.node;
        EXPECT_TRUE(clock.is_known) << clock.node;
    }
    EXPECT_EQ(replayed.profile.clocks[1].node, "node1");
    EXPECT_NEAR(static_cast<double>(replayed.profile.clocks[1].correction_ns), 50'000, 1000);
}

// ---- other programs

/// What was claimed of several programs.
struct Claims {
    int all = 0;
    int firm = 0;  // that at most a tenth of the path is in doubt: others may come out any way

    void add(const tests::Replayed& replayed)
    {
        ++all;
        firm += replayed.fact("clocks_unknown") == 0 && doubted(replayed) <= 0.1 ? 1 : 0;
    }
};

/// The shares of the ranks are as true clocks say, or the report says how far they may not be.
void expect_honest(const tests::Replayed& replayed, const tests::Replayed& truth, const std::string& what)
{
    if (replayed.fact("clocks_unknown") > 0)
        return;  // and the report says so
    EXPECT_LE(difference(replayed, truth), std::max(0.01, doubted(replayed))) << what;
    EXPECT_EQ(replayed.fact("clock_violations"), 0) << what;
    EXPECT_LE(decided(replayed), doubted(replayed)) << what;
}

TEST(Clocks, NeighboursThatExchangeMessagesAreHonest)
{
    for (const std::uint32_t spread : {100, 1000, 3000}) {
        const Program p = halo(12, 60, spread);
        const Machine m = machine(2);
        const Execution e = simulate(p, m);
        const tests::Replayed truth = replay(p, m, e);
        for (const Clocks& clocks : {one_off(6, 50'000), random_clocks(6, spread)}) {
            expect_honest(replay(p, m, e, clocks), truth, fmt::format("spread {}", spread));
            const tests::Replayed told = replay(p, m, e, measured(clocks));
            expect_honest(told, truth, fmt::format("spread {}, measured", spread));
            if (spread == 3000) {  // of ticks, 300 us: many times what the clocks are off
                EXPECT_LE(decided(told), 0.2);
                EXPECT_LE(difference(told, truth), 0.01);
            }
        }
    }
}

#ifdef CRITPATH_SANITIZED
constexpr std::uint32_t programs_with_clocks = 6;
#else
constexpr std::uint32_t programs_with_clocks = 60;
#endif

TEST(Clocks, RandomProgramsAreHonest)
{
    Machine m;
    m.ranks_a_node = 2;
    Claims silent, known;
    for (std::uint32_t seed = 1; seed <= programs_with_clocks; ++seed) {
        const Program p = expand(random_recipe(seed));
        const Execution e = simulate(p, m);
        const tests::Replayed truth = replay(p, m, e);
        const Clocks clocks = random_clocks((p.ranks + 1) / 2, seed);
        const tests::Replayed untold = replay(p, m, e, clocks), told = replay(p, m, e, measured(clocks));
        expect_honest(untold, truth, fmt::format("seed {}", seed));
        expect_honest(told, truth, fmt::format("seed {}, measured", seed));
        silent.add(untold);
        known.add(told);
    }
    EXPECT_GE(silent.firm, silent.all / 4);
    EXPECT_GE(known.firm, known.all * 3 / 4);
}

/// What was measured says little, and each rank has a clock of its own: who comes last may be anybody.
TEST(Clocks, RandomProgramsWithWideIntervalsAreHonest)
{
    Machine m;
    m.ranks_a_node = 1;
    std::vector<std::uint32_t> seeds(programs_with_clocks);
    std::iota(seeds.begin(), seeds.end(), 1U);
    Claims claims;
    seeds.push_back(239);                   // its only doubt is whether a non-blocking collective waited for anybody
    seeds.insert(seeds.end(), {136, 924});  // meetings that take long, from which on it is in doubt
    for (const std::uint32_t seed : seeds) {
        const Program p = expand(random_recipe(seed));
        const Execution e = simulate(p, m);
        Clocks clocks = measured(one_off(p.ranks, (seed & 8U) != 0 ? 50'000 : -50'000));
        std::swap(clocks.nodes[1], clocks.nodes[seed % clocks.nodes.size()]);
        clocks.half_width_ns = 60'000;
        clocks.error_ns = 40'000;
        const tests::Replayed replayed = replay(p, m, e, clocks);
        claims.add(replayed);
        EXPECT_LE(difference(replayed, replay(p, m, e)), std::max(0.01, doubted(replayed))) << "seed " << seed;
        EXPECT_EQ(replayed.fact("clock_violations"), 0) << "seed " << seed;
    }
    EXPECT_GE(claims.firm, claims.all / 5);
}

/// All clocks are known well but one, which may be behind those that seem to come last.
TEST(Clocks, RandomProgramsWithOneWideIntervalAreHonest)
{
    Machine m;
    m.ranks_a_node = 1;
    Claims claims;
    for (std::uint32_t seed = 1; seed <= programs_with_clocks; ++seed) {
        const Program p = expand(random_recipe(seed));
        const Execution e = simulate(p, m);
        Clocks clocks{.nodes = {}, .said = Said::Measured, .half_width_ns = 5, .error_ns = 2};
        clocks.nodes.resize(static_cast<std::size_t>(p.ranks));
        NodeClock& hardly_known = clocks.nodes[seed % clocks.nodes.size()];
        hardly_known.more_half_width_ns = 60'000;
        hardly_known.more_error_ns = (seed & 8U) != 0 ? 40'000 : -40'000;
        const tests::Replayed replayed = replay(p, m, e, clocks);
        claims.add(replayed);
        EXPECT_LE(difference(replayed, replay(p, m, e)), std::max(0.01, doubted(replayed))) << "seed " << seed;
        EXPECT_EQ(replayed.fact("clock_violations"), 0) << "seed " << seed;
    }
    EXPECT_GE(claims.firm, claims.all / 5);
}

TEST(Clocks, ThatAreAllOffByAsMuchChangeNothing)
{
    Machine m;
    m.ranks_a_node = 2;
    for (std::uint32_t seed = 1; seed <= programs_with_clocks / 4; ++seed) {
        const Program p = expand(random_recipe(seed));
        const Execution e = simulate(p, m);
        for (const Clocks& clocks : {random_clocks((p.ranks + 1) / 2, seed), Clocks{}}) {
            Clocks later = clocks;
            later.epoch_ns += 987'654'321'012'345;
            EXPECT_EQ(replay(p, m, e, later).path(), replay(p, m, e, clocks).path()) << "seed " << seed;
        }
    }
}

// ---- the corrected times themselves

/// Each time is as far from the true one as is said, at most.
void expect_true_times(const Program& p, const Machine& m, const Execution& e, const Clocks& clocks, std::uint32_t seed)
{
    const replayer::Replay loaded = load(p, m, e, clocks);
    for (const model::ProcessTrace& trace : loaded.processes) {
        const auto clock = loaded.definitions.processes[trace.process.value].clock_domain.value;
        if (loaded.clocks.empty() || !loaded.clocks[clock].is_known)
            continue;
        const std::int64_t error = loaded.definitions.clock_uncertainty[clock].count() + 1;
        const auto& calls = e.graph.calls(static_cast<int>(trace.process.value));
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const std::int64_t enter = calls[i].enter * m.tick_ns;
            const std::int64_t truth = clocks.said == Said::Measured ? clocks.epoch_ns + enter : clocks.shown(0, enter);
            EXPECT_NEAR(static_cast<double>(trace.locations[0].calls.enter(i).count() - truth), 0,
                        static_cast<double>(error))
                << "seed " << seed << ", call " << i << " of rank " << trace.process.value;
        }
    }
}

TEST(Clocks, CorrectedTimesAreWithinTheErrorThatIsClaimed)
{
    for (std::uint32_t seed = 1; seed <= programs_with_clocks; ++seed) {
        Machine m;
        m.ranks_a_node = 1 + static_cast<int>(seed % 3);
        m.jitter = 30;
        m.skew = 10;
        const Program p = expand(random_recipe(seed));
        const Execution e = simulate(p, m);
        const Clocks clocks = random_clocks(p.ranks, seed);
        expect_true_times(p, m, e, clocks, seed);
        expect_true_times(p, m, e, measured(clocks), seed);
    }
}

/// Over several stretches of time: 100 s, in which the clocks drift apart by up to 4 ms.
TEST(Clocks, ThatGoAtDifferentRatesForALongTimeAreCorrected)
{
    Machine m = machine(1);
    m.tick_ns = 10'000;  // a step takes 0.1 s now, a collective 1 ms
    const Program p = balanced(4, 1000);
    const Execution e = simulate(p, m);
    const Clocks clocks = random_clocks(4, 5);
    expect_true_times(p, m, e, clocks, 5);
    const replayer::Replay loaded = load(p, m, e, clocks);
    for (std::size_t i = 1; i < 4; ++i) {
        EXPECT_GT(loaded.clocks[i].correction, std::chrono::microseconds{100});
        EXPECT_LT(loaded.definitions.clock_uncertainty[i], std::chrono::milliseconds{3});
    }
}

}  // namespace
}  // namespace critpath::oracle

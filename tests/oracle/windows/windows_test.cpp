// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One-sided communication: the oracle against formulas, and the analysis against the oracle.
#include "tests/oracle/mixed/mixed.hpp"
#include "tests/oracle/off_clocks.hpp"
#include "tests/oracle/windows/check.hpp"
#include "tests/oracle/windows/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace critpath::oracle::windows
{
namespace
{

using testing::ElementsAre;

Step compute(std::int64_t ticks)
{
    return {.kind = Kind::Compute, .ticks = ticks};
}
Step peers(Kind kind, std::vector<int> ranks)
{
    return {.kind = kind, .peers = std::move(ranks)};
}
Step to(Kind kind, int target, std::uint64_t bytes = 8)
{
    return {.kind = kind, .target = target, .bytes = bytes, .exclusive = true};
}

/// Leaves of the calls of a rank but for the making and freeing of the window and MPI_Finalize, since the window was
/// made.
std::vector<std::int64_t> leaves(const WindowExecution& execution, int rank)
{
    const auto& times = execution.execution.graph.calls(rank);
    std::vector<std::int64_t> result;
    for (std::size_t i = 1; i + 2 < times.size(); ++i)
        result.push_back(times[i].leave - times[0].leave);
    return result;
}

// On a machine whose costs are those of Machine's declaration.
TEST(WindowSimulation, PostStartCompleteWait)
{
    const std::vector<std::vector<Step>> steps = {
        {compute(10), peers(Kind::Start, {1}), to(Kind::Transfer, 1, 50'000), compute(100), {.kind = Kind::Complete}},
        {compute(200), peers(Kind::Post, {0}), {.kind = Kind::Wait}}};
    // The post, at 200, is there at 220; the transfer takes 70.
    const WindowExecution start = simulate({2, 1, Deferral::Start, steps}, {});
    EXPECT_THAT(leaves(start, 0), ElementsAre(220, 221, 322));  // done at 290, before the call at 321
    EXPECT_THAT(leaves(start, 1), ElementsAre(201, 341));       // one message after Complete, at 321
    const WindowExecution transfer = simulate({2, 1, Deferral::Transfer, steps}, {});
    EXPECT_THAT(leaves(transfer, 0), ElementsAre(11, 220, 321));
    const WindowExecution complete = simulate({2, 1, Deferral::Complete, steps}, {});
    EXPECT_THAT(leaves(complete, 0), ElementsAre(11, 12, 270));  // 200 and 70
    EXPECT_THAT(leaves(complete, 1), ElementsAre(201, 270));
}

TEST(WindowSimulation, Locks)
{
    const WindowExecution e = simulate({3,
                                        1,
                                        Deferral::Start,
                                        {{to(Kind::Lock, 2), compute(300), to(Kind::Unlock, 2)},
                                         {compute(100), to(Kind::Lock, 2), to(Kind::Unlock, 2)},
                                         {compute(50), to(Kind::Lock, 0), to(Kind::Unlock, 0)}}},
                                       {});
    EXPECT_THAT(leaves(e, 0), ElementsAre(1, 302));
    EXPECT_THAT(leaves(e, 1), ElementsAre(301 + 20, 322));
    EXPECT_THAT(leaves(e, 2), ElementsAre(51, 52));  // another target
}

TEST(WindowSimulation, ALockIsFreeWhenWhatWasTransferredIsThere)
{
    const WindowExecution e = simulate({3,
                                        1,
                                        Deferral::Start,
                                        {{to(Kind::Lock, 2), to(Kind::Transfer, 2, 400'000), to(Kind::Unlock, 2)},
                                         {compute(100), to(Kind::Lock, 2), to(Kind::Unlock, 2)},
                                         {}}},
                                       {});
    EXPECT_THAT(leaves(e, 0), ElementsAre(1, 2, 1 + 420));
    EXPECT_THAT(leaves(e, 1), ElementsAre(421, 422));
}

TEST(WindowSimulation, LazyTargetsHoldUpTransfers)
{
    Machine lazy;
    lazy.progress = false;
    const Program program{2,
                          1,
                          Deferral::Start,
                          {{to(Kind::Lock, 1), to(Kind::Transfer, 1), to(Kind::Unlock, 1)},
                           {compute(300), to(Kind::Lock, 1), to(Kind::Unlock, 1)}}};
    EXPECT_THAT(leaves(simulate(program, {}), 0), ElementsAre(1, 2, 21));
    EXPECT_THAT(leaves(simulate(program, lazy), 0), ElementsAre(1, 300 + 20, 321));
}

TEST(WindowSimulation, FencesWaitForTransfers)
{
    const Step fence{.kind = Kind::Fence};
    Program program{3,
                    1,
                    Deferral::Start,
                    {{fence, to(Kind::Transfer, 1, 50'000), fence}, {fence, compute(30), fence}, {fence, fence}}};
    // The transfer, at 12, takes 70; the last one comes at 42.
    const WindowExecution all = simulate(program, {});
    EXPECT_THAT(leaves(all, 0), ElementsAre(12, 13, 82 + 12));
    EXPECT_THAT(leaves(all, 2), ElementsAre(12, 82 + 12));
    program.fencing = Fencing::Own;
    const WindowExecution own = simulate(program, {});
    EXPECT_THAT(leaves(own, 0), ElementsAre(12, 13, 82));
    EXPECT_THAT(leaves(own, 1), ElementsAre(12, 82));
    EXPECT_THAT(leaves(own, 2), ElementsAre(12, 42 + 12));
}

TEST(WindowSimulation, LazyTargetsHoldUpFences)
{
    const Step fence{.kind = Kind::Fence};
    Machine lazy;
    lazy.progress = false;
    const Program program{3,
                          1,
                          Deferral::Start,
                          {{fence, to(Kind::Transfer, 1, 400'000), fence},
                           {fence, compute(100), to(Kind::Transfer, 0), compute(50), fence},
                           {fence, compute(300), fence}}};
    EXPECT_THAT(leaves(simulate(program, {}), 0), ElementsAre(12, 13, 12 + 420 + 12));
    const WindowExecution e = simulate(program, lazy);
    EXPECT_THAT(leaves(e, 0), ElementsAre(12, 13, 112 + 420 + 12));  // the target comes back for its own transfer
    EXPECT_EQ(e.execution.graph.slack_of_gap(1, 2), 0);
    EXPECT_GT(e.execution.graph.slack_of_gap(1, 3), 0);
}

/// Who passes the fence transfers when the target is there, too.
TEST(WindowSimulation, FencesWithoutPrecedingEpochsMayPass)
{
    const Step fence{.kind = Kind::Fence}, opening{.kind = Kind::Fence, .precedes = false};
    Program program{
        2, 1, Deferral::Start, {{opening, to(Kind::Transfer, 1, 50'000), fence}, {compute(200), opening, fence}}};
    EXPECT_THAT(leaves(simulate(program, {}), 0), ElementsAre(212, 213, 212 + 70 + 12));
    program.opening = Opening::Passes;
    const WindowExecution passes = simulate(program, {});
    EXPECT_THAT(leaves(passes, 0), ElementsAre(1, 2, 200 + 70 + 12));
    EXPECT_THAT(leaves(passes, 1), ElementsAre(201, 200 + 70 + 12));
    EXPECT_EQ(passes.execution.graph.slack_of_gap(1, 1), 0);
}

TEST(WindowSimulation, AWindowOfSomeRanks)
{
    const Step fence{.kind = Kind::Fence};
    Program program{3, 1, Deferral::Start, {{fence}, {compute(1000)}, {compute(30), fence}}};
    program.members = {{2, 0}};
    EXPECT_THAT(leaves(simulate(program, {}), 0), ElementsAre(30 + 12));
}

TEST(WindowSimulation, LoopsOfTests)
{
    Step test{.kind = Kind::Wait, .function = FunctionId::MPI_Win_test};
    const auto of_target = [&](std::int64_t between) {
        test.ticks = between;
        const Program program{
            2,
            1,
            Deferral::Start,
            {{compute(100), peers(Kind::Start, {1}), {.kind = Kind::Complete}}, {peers(Kind::Post, {0}), test}}};
        return leaves(simulate(program, {}), 1);
    };
    // MPI_Win_complete, at 101, is known at 121.
    EXPECT_THAT(of_target(0), ElementsAre(1, 121, 122));  // all tests in vain are one call
    EXPECT_THAT(of_target(20), ElementsAre(1, 2, 23, 44, 65, 86, 107, 128));
}

TEST(WindowSimulation, FlushesOfAllTargets)
{
    const Step flush{.kind = Kind::Flush, .function = FunctionId::MPI_Win_flush_local_all};
    const Program program{
        2, 1, Deferral::Start, {{to(Kind::Lock, 1), to(Kind::Transfer, 1, 50'000), flush, to(Kind::Unlock, 1)}, {}}};
    EXPECT_THAT(leaves(simulate(program, {}), 0), ElementsAre(1, 2, 1 + 70, 72));
}

TEST(WindowSimulation, SaysWhatCannotEnd)
{
    EXPECT_THROW(simulate({2, 1, Deferral::Start, {{peers(Kind::Start, {1})}, {}}}, {}), std::logic_error);
}

/// Parts go on where the ones before them end, on each rank for itself.
TEST(MixedSimulation, PartsFollowEachOther)
{
    std::size_t several = 0;
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        const mixed::MixedExecution e = simulate(mixed::random_recipe(seed), {});
        several += e.parts.size() > 3 ? 1 : 0;
        const auto functions = mixed::functions(e);
        for (int r = 0; r < e.whole.graph.ranks(); ++r) {
            const auto& of_rank = functions[static_cast<std::size_t>(r)];
            EXPECT_EQ(of_rank.size(), e.whole.graph.calls(r).size());
            EXPECT_EQ(std::ranges::count(of_rank, FunctionId::MPI_Init), 1);
            EXPECT_EQ(std::ranges::count(of_rank, FunctionId::MPI_Finalize), 1);
            EXPECT_TRUE(std::ranges::is_sorted(e.whole.graph.calls(r), {}, &Times::enter));
        }
    }
    EXPECT_GT(several, 10);
    Machine lazy;
    lazy.progress = false;
    EXPECT_THROW(simulate(mixed::random_recipe(1), lazy), std::logic_error);
}

// ---- the analysis

#ifdef CRITPATH_SANITIZED
constexpr std::uint32_t programs = 15, many_programs = programs;
#else
constexpr std::uint32_t programs = 45, many_programs = 5 * programs;
#endif

TEST(WindowAnalysis, PutsNothingOnThePathThatHasSlackWhereCostsAreKnown)
{
    for (std::uint32_t seed = 1; seed <= programs; ++seed) {
        const Judged judged = check(random_recipe(seed), {}, Weights::Known);
        EXPECT_THAT(judged.verdict.faults, ElementsAre()) << "seed " << seed << "\n" << judged.words;
        EXPECT_EQ(judged.broken, "") << "seed " << seed;
    }
}

TEST(WindowAnalysis, KnowsNodes)
{
    Machine machine;
    machine.ranks_a_node = 2;
    for (std::uint32_t seed = 1; seed <= programs / 3; ++seed) {
        const Judged judged = check(random_recipe(seed), machine, Weights::Known);
        EXPECT_THAT(judged.verdict.faults, ElementsAre()) << "seed " << seed << "\n" << judged.words;
        EXPECT_EQ(judged.broken, "") << "seed " << seed;
    }
}

TEST(MixedAnalysis, PutsNothingOnThePathThatHasSlackWhereCostsAreKnown)
{
    std::vector<std::uint32_t> seeds(programs);
    std::iota(seeds.begin(), seeds.end(), std::uint32_t{1});
    seeds.push_back(3776);  // one comes to write a file in the moment in which the other one has written it
    for (const std::uint32_t seed : seeds) {
        const Judged judged = mixed::check(mixed::random_recipe(seed), {}, Weights::Known);
        EXPECT_THAT(judged.verdict.faults, ElementsAre()) << "seed " << seed << "\n" << judged.words;
        EXPECT_EQ(judged.broken, "") << "seed " << seed;
    }
}

TEST(MixedAnalysis, KnowsNodes)
{
    Machine machine;
    machine.ranks_a_node = 2;
    for (std::uint32_t seed = 1; seed <= programs / 3; ++seed) {
        const Judged judged = mixed::check(mixed::random_recipe(seed), machine, Weights::Known);
        EXPECT_THAT(judged.verdict.faults, ElementsAre()) << "seed " << seed << "\n" << judged.words;
        EXPECT_EQ(judged.broken, "") << "seed " << seed;
    }
}

/// Each rank has a clock of its own, and intervals of that width are known, whose middle is off. Returns whether at
/// most a tenth of the path is in doubt: others may come out any way.
bool is_firm_and_honest(std::uint32_t seed, std::int64_t half_width_ns, std::int64_t error_ns)
{
    Machine machine;
    machine.ranks_a_node = 1;
    const Program program = random_program(seed);
    const WindowExecution execution = simulate(program, machine);
    Clocks clocks = measured(random_clocks(program.ranks, seed));
    clocks.half_width_ns = half_width_ns;
    clocks.error_ns = error_ns;
    const tests::Replayed truth = tests::replay(load(program, machine, execution));
    const tests::Replayed found = tests::replay(load(program, machine, execution, MPI_COMM_SELF, clocks));
    EXPECT_EQ(decided(truth), 0) << "seed " << seed;
    EXPECT_LE(decided(found), doubted(found)) << "seed " << seed;
    EXPECT_LE(difference(found, truth), std::max(0.01, doubted(found))) << "seed " << seed << ", " << half_width_ns;
    return doubted(found) <= 0.1;
}

/// The shares of the ranks are as true clocks say, or the report says how far they may not be.
TEST(WindowAnalysis, IsHonestWhereClocksAreOff)
{
    std::uint32_t firm = 0, firm_in_wide_ones = 0;
    for (std::uint32_t seed = 1; seed <= programs; ++seed) {
        firm += is_firm_and_honest(seed, 5000, 2000) ? 1 : 0;
        firm_in_wide_ones += is_firm_and_honest(seed, 60'000, 40'000) ? 1 : 0;
    }
    EXPECT_GE(firm, programs / 2);
    EXPECT_GE(firm_in_wide_ones, programs / 8);
}

/// Which part of the paths of so many programs is false-critical.
double false_critical_share(const Machine& machine, Weights weights, std::uint32_t count = programs)
{
    std::int64_t path = 0, false_critical = 0;
    for (std::uint32_t seed = 1; seed <= count; ++seed) {
        const Judged judged = check(random_recipe(seed), machine, weights);
        EXPECT_EQ(judged.broken, "") << "seed " << seed;
        const Verdict& verdict = judged.verdict;
        path += verdict.makespan;
        false_critical += verdict.false_critical;
    }
    return static_cast<double>(false_critical) / static_cast<double>(path);
}

TEST(WindowAnalysis, IsHardlyEverWrongWithTheCostsThatItLearns)
{
    EXPECT_LE(false_critical_share({}, Weights::Learned), 0.005);
}

/// Who takes the machine for twice as fast, or half as fast, as it is.
TEST(WindowAnalysis, IsHardlyEverWrongWithCostsThatAreOffByTwo)
{
    // Few are wrong, but then by much of their path.
    EXPECT_LE(false_critical_share({}, Weights::TwiceAsFast, many_programs), 0.005);
    EXPECT_LE(false_critical_share({}, Weights::HalfAsFast, many_programs), 0.005);
}

/// Where it takes none but long waits for such, 7 % of the path is wrong.
TEST(WindowAnalysis, IsSeldomWrongWhereTargetsMustBeInMpi)
{
    Machine lazy;
    lazy.progress = false;
    EXPECT_LE(false_critical_share(lazy, Weights::Known), 0.03);
}

/// Where calls are late because no core is free, a transfer that takes about as long may be the reason as well; and if
/// none takes long, a target that happens to come back to MPI one message before their end.
TEST(WindowAnalysis, BlamesNoTransferForTheLackOfCores)
{
    Machine machine;
    machine.short_of_cores = true;
    EXPECT_LE(false_critical_share(machine, Weights::Known), 0.04);
    machine.bytes_a_tick = 1'000'000;
    EXPECT_LE(false_critical_share(machine, Weights::Known), 0.025);
}

}  // namespace
}  // namespace critpath::oracle::windows

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Why the rank on the path takes longer than its peers, where the program says it.
#include "replayer/peers/gaps.hpp"
#include "replayer/peers/pace.hpp"
#include "replayer/peers/split.hpp"
#include "replayer/peers/variance.hpp"
#include "tests/builder/replayed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

namespace critpath::tests
{
namespace
{

using replayer::CountedTime;
using replayer::Gap;
using replayer::PeerSums;
using replayer::Split;

constexpr std::int64_t us = 1000;

/// What a rank does in a step before it enters the Allreduce that ends it: on its processor, preempted, blocked, us;
/// then what it counts, if it does.
struct Work {
    std::int64_t on = 100;
    std::int64_t preempted = 0;
    std::int64_t blocked = 0;
    std::int64_t instructions = -1;
    std::int64_t cycles = -1;
    [[nodiscard]] std::int64_t all() const { return on + preempted + blocked; }
};

/// Steps of so much work each, as a BSP program has them.
void run_steps(Program& program, int steps, const std::function<Work(int rank, int step)>& work)
{
    std::int64_t time = 10;
    for (int rank = 0; rank < program.ranks(); ++rank) {
        program[rank].called_from({"main", "step"});
        program[rank].collective(FunctionId::MPI_Barrier, {5, time});
    }
    for (int step = 0; step < steps; ++step) {
        std::int64_t longest = 0;
        for (int rank = 0; rank < program.ranks(); ++rank)
            longest = std::max(longest, work(rank, step).all());
        const std::int64_t leave = time + longest + 2;
        for (int rank = 0; rank < program.ranks(); ++rank) {
            const Work w = work(rank, step);
            if (w.preempted > 0)
                program[rank].off({time + 1, time + 1 + w.preempted}, true);
            if (w.blocked > 0)
                program[rank].off({time + 1 + w.preempted, time + 1 + w.preempted + w.blocked}, false);
            if (w.instructions >= 0)
                program[rank].counted(w.instructions, w.cycles);
            program[rank].collective(FunctionId::MPI_Allreduce, {time + w.all(), leave});
        }
        time = leave;
    }
    program.finish(time + 1);
}

std::string function(const Replayed& r, model::CallPathId call)
{
    return r.profile.row(call).name;
}

/// The stretch between two functions.
model::Stretch stretch(const Replayed& r, const std::string& before, const std::string& after)
{
    const auto& all = r.profile.stretches;
    const auto found = std::ranges::find_if(
        all, [&](const model::Stretch& s) { return function(r, s.before) == before && function(r, s.after) == after; });
    if (found == all.end()) {
        ADD_FAILURE() << "no stretch from " << before << " to " << after;
        return {};
    }
    return *found;
}

model::Stretch step_of(const Replayed& r)
{
    return stretch(r, "MPI_Allreduce", "MPI_Allreduce");
}

std::int64_t sum_of_parts(const model::Stretch& s)
{
    return s.instructions_ns + s.cycles_ns + s.frequency_ns + s.instruction_time_ns + s.all_cycles_ns + s.processor_ns +
           s.preempted_ns + s.blocked_ns;
}

std::int64_t sum_of_parts(const Split& s)
{
    return s.instructions + s.cycles + s.frequency + s.instruction_time + s.all_cycles + s.processor + s.preempted +
           s.blocked;
}

/// Compared with two that are equal.
Split split_from(const Gap& own, const Gap& peer)
{
    PeerSums others;
    others.add(peer, own.ns);
    others.add(peer, own.ns);
    return split(own, others, own.ns);
}

double rank_share(const model::Stretch& s)
{
    return static_cast<double>(s.rank_variance) / static_cast<double>(s.rank_variance + s.noise_variance);
}

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
    ASSERT_FALSE(r.profile.stretch_shares.empty());
    EXPECT_EQ(r.profile.stretch_shares[0].stretch, 0U);
    EXPECT_EQ(r.profile.stretch_shares[0].process.value, 2U);
    EXPECT_EQ(r.profile.stretch_shares[0].ns, s.path_ns);
    EXPECT_EQ(r.profile.stretch_shares[0].gaps, 10);
    EXPECT_EQ(r.profile.stretch_shares[0].longer_ns, 10 * 100 * us);
    EXPECT_EQ(s.much_longer, 10);
    EXPECT_EQ(s.slow_ranks, 1);
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
    EXPECT_GT(s.noise_variance, 1e9 * std::log(2.0) * std::log(2.0) / 5);
    EXPECT_GE(r.profile.stretch_shares.size(), 4U);
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

/// What each rank's samples count in a microsecond.
struct Pace {
    std::int64_t instructions, cycles;
};

/// Steps of which nobody but samples, 10 us apart, counts anything. `events`: as far as they count it.
void run_sampled_steps(Program& program, int steps, const std::vector<std::string>& events,
                       const std::function<Work(int)>& work, const std::function<Pace(int)>& pace)
{
    run_steps(program, steps, [&](int rank, int) { return work(rank); });
    std::int64_t longest = 0;
    for (int rank = 0; rank < program.ranks(); ++rank)
        longest = std::max(longest, work(rank).all());
    for (int rank = 0; rank < program.ranks(); ++rank)
        for (int step = 0; step < steps; ++step)
            for (std::int64_t at = 0; at <= work(rank).all(); at += 10) {
                // Behind the wait before it, the first sample of a step has counted what comes of spinning.
                program[rank].sample(10 + step * (longest + 2) + at, "work", 10'000);
                const Pace counted = at == 0 ? Pace{777'777, 999} : pace(rank);
                const std::int64_t wobble = 100 + (step * 7 + at / 10 * 3) % 5 - 2;  // percent, of each count
                std::vector<std::pair<std::string, std::int64_t>> counts;
                for (const std::string& event : events)
                    counts.emplace_back(event,
                                        (event == "cycles" ? counted.cycles : counted.instructions) * wobble / 10);
                program[rank].counts(counts);
            }
}

TEST(Peers, SamplesAloneTellWorkFromMemoryFromFrequency)
{
    struct Case {
        Pace pace;  // of the slow rank; the others have 1000 instructions and 2000 cycles
        std::int64_t model::Stretch::*part;
        std::int64_t model::Stretch::*error;
    };
    using S = model::Stretch;
    for (const auto& [slow, part, error] : {Case{{1000, 2000}, &S::instructions_ns, &S::instructions_error_ns},
                                            Case{{500, 2000}, &S::cycles_ns, &S::cycles_error_ns},
                                            Case{{500, 1000}, &S::frequency_ns, &S::frequency_error_ns}}) {
        Program p(3);
        run_sampled_steps(
            p, 21, {"cycles", "instructions"}, [](int rank) { return Work{rank == 1 ? 200 : 100}; },
            [&, pace = slow](int rank) {
                return rank == 1 ? pace : Pace{1000, 2000};
            });
        const Replayed r = replay(p);
        const S s = step_of(r);
        EXPECT_EQ(s.sampled, 20);
        EXPECT_EQ(s.counted, 0);
        EXPECT_EQ(s.processor_ns, 0);
        EXPECT_EQ(sum_of_parts(s), 20 * 100 * us);
        EXPECT_NEAR(static_cast<double>(s.*part), 20 * 100 * us, 20 * us);
        if (error != &S::cycles_error_ns) {  // the samples wobble together, so that cycles by instruction do not
            EXPECT_GT(s.*error, 0);
            EXPECT_GT(s.*error, std::abs(s.*part - 20 * 100 * us));
        }
        EXPECT_LT(s.*error, 20 * 3 * us);
        EXPECT_EQ(s.fewest_samples, 200);  // of each step, all but the first
        EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    }
}

TEST(Peers, OneEventOfSamplesTellsAsMuchAsItCan)
{
    const auto work = [](int rank) { return Work{rank == 1 ? 200 : 100}; };
    const auto throttled = [](int rank) { return rank == 1 ? Pace{500, 1000} : Pace{1000, 2000}; };
    Program instructions(3);
    run_sampled_steps(instructions, 21, {"page-faults", "instructions"}, work, throttled);
    const model::Stretch slower = step_of(replay(instructions));
    EXPECT_EQ(slower.sampled, 20);
    EXPECT_NEAR(static_cast<double>(slower.instruction_time_ns), 20 * 100 * us, 20 * us);
    EXPECT_GT(slower.instruction_time_error_ns, 0);
    EXPECT_EQ(slower.frequency_ns, 0);
    EXPECT_EQ(sum_of_parts(slower), 20 * 100 * us);
    Program cycles(3);
    run_sampled_steps(cycles, 21, {"cycles"}, work, throttled);
    const model::Stretch frequency = step_of(replay(cycles));
    EXPECT_NEAR(static_cast<double>(frequency.frequency_ns), 20 * 100 * us, 20 * us);
    EXPECT_NEAR(static_cast<double>(frequency.all_cycles_ns), 0, 20 * us);
    EXPECT_EQ(frequency.instructions_ns, 0);
    EXPECT_EQ(sum_of_parts(frequency), 20 * 100 * us);
}

TEST(Peers, FewSamplesTellNothing)
{
    Program p(3);
    run_sampled_steps(
        p, 21, {"cycles", "instructions"},
        [](int rank) {
            return Work{rank == 1 ? 200 : rank == 2 ? 5 : 100};  // shorter than from one sample to the next
        },
        [](int) {
            return Pace{1000, 2000};
        });
    const model::Stretch s = step_of(replay(p));
    EXPECT_EQ(s.sampled, 0);
    EXPECT_EQ(s.fewest_samples, 0);
    EXPECT_EQ(s.fewest_samples_rank, 2);
    EXPECT_EQ(s.processor_ns, s.compared_ns - s.peers_ns);
}

TEST(Peers, CountersOfGapsGoBeforeSamples)
{
    Program p(2);
    run_sampled_steps(
        p, 21, {"cycles", "instructions"},
        [](int rank) {
            return rank == 1 ? Work{200, 0, 0, 200'000, 400'000} : Work{100, 0, 0, 100'000, 200'000};
        },
        [](int rank) {
            return rank == 1 ? Pace{500, 1000} : Pace{1000, 2000};
        });
    const model::Stretch s = step_of(replay(p));
    EXPECT_EQ(s.counted, 20);
    EXPECT_EQ(s.sampled, 0);
    EXPECT_EQ(s.instructions_ns, 20 * 100 * us);
    EXPECT_EQ(s.instructions_error_ns, 0);
}

TEST(Peers, WhatOnlyOneRankDoesHasNone)
{
    Program p(3);
    for (int rank = 0; rank < 3; ++rank)
        p[rank].collective(FunctionId::MPI_Barrier, {5, 7});
    p[0].collective(FunctionId::MPI_Bcast, {1007, 1008}, model::CommId{1}, 0);  // on MPI_COMM_SELF
    for (int rank = 0; rank < 3; ++rank)
        p[rank].collective(FunctionId::MPI_Allreduce, {rank == 0 ? 1010 : 100, 1012});
    p.finish(1013);
    const model::Stretch s = stretch(replay(p), "MPI_Barrier", "MPI_Bcast");
    EXPECT_EQ(s.path_ns, 1000 * us);
    EXPECT_EQ(s.gaps, 1);
    EXPECT_EQ(s.compared, 0);
    EXPECT_EQ(s.compared_ns, 0);
    EXPECT_FALSE(s.has_model());
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
    std::vector<replayer::Gaps> gaps = {replayer::Gaps(one.processes[0].locations[0])};
    ASSERT_EQ(gaps[0].end(), 3U);
    EXPECT_EQ(gaps[0].place(1), (replayer::GapPlace{{0}, {1}}));
    EXPECT_EQ(gaps[0].measure(1).ns, 9 * us);
    EXPECT_EQ(gaps[0].measure(1).counted.cycles, 7);
    EXPECT_EQ(gaps[0].measure(2).ns, 25 * us);
    EXPECT_FALSE(gaps[0].measure(2).has_cycles());

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

TEST(Split, TheLogarithmIsExact)
{
    std::mt19937_64 random(23);
    for (int round = 0; round < 100'000; ++round) {
        const auto x = static_cast<std::int64_t>(random() >> (random() % 63 + 1));
        const std::int64_t expected = x <= 1 ? 0 : std::llround(std::log(static_cast<double>(x)) * replayer::fixed_one);
        ASSERT_NEAR(static_cast<double>(replayer::fixed_log(x)), static_cast<double>(expected), 1) << x;
    }
}

TEST(Split, FollowsTheLogarithmsAndLeavesNoRest)
{
    // t = I * CPI / f * (t / t_on): 1.5 times the instructions, 1.2 times the cycles for each, 0.9 of the frequency,
    // and a fifth of the time preempted.
    const Gap peer{1'000'000, 0, 0, 0, {1'000'000, 2'000'000}};
    const double on = 1'000'000 * 1.5 * 1.2 / 0.9;
    const Gap own{std::llround(on / 0.8), std::llround(on / 0.8 - on), 0, 0, {1'500'000, 3'600'000}};
    PeerSums others;
    others.add(peer, own.ns);
    others.add(peer, own.ns);
    const Split s = split(own, others, own.ns);
    const double excess = static_cast<double>(own.ns - peer.ns);
    const double mean = excess / std::log(static_cast<double>(own.ns) / 1e6);
    EXPECT_TRUE(s.has_instructions && s.has_cycles);
    EXPECT_NEAR(static_cast<double>(s.peers), 1e6, 1);
    EXPECT_NEAR(static_cast<double>(s.instructions), mean * std::log(1.5), 3);
    EXPECT_NEAR(static_cast<double>(s.cycles), mean * std::log(1.2), 3);
    EXPECT_NEAR(static_cast<double>(s.frequency), mean * -std::log(0.9), 3);
    EXPECT_NEAR(static_cast<double>(s.preempted), mean * -std::log(0.8), 3);
    EXPECT_EQ(s.blocked, 0);
    EXPECT_EQ(s.peers + s.instructions + s.cycles + s.frequency + s.preempted, own.ns);
    // Of what is on the path in part, that part.
    const Split half = split(own, others, own.ns / 2);
    EXPECT_NEAR(static_cast<double>(half.cycles), static_cast<double>(s.cycles) / 2, 2);
    EXPECT_EQ(half.peers + half.instructions + half.cycles + half.frequency + half.preempted, own.ns / 2);
}

TEST(Split, ToldApartAsFarAsItIsCounted)
{
    constexpr std::int64_t unknown = model::Counted::unknown;
    const auto gap = [](std::int64_t ns, std::int64_t instructions, std::int64_t cycles) {
        return Gap{ns, 0, 0, 0, {instructions, cycles}};
    };
    // Three times the time: 1.5 times the instructions, 1.6 times the cycles for each, 0.8 of the frequency.
    constexpr std::int64_t ns = 3'000'000, peers = 1'000'000;
    const double mean = static_cast<double>(ns - peers) / std::log(3.0);
    const Gap peer = gap(peers, 1'000'000, 2'000'000);

    const Split instructions = split_from(gap(ns, 1'500'000, unknown), peer);
    EXPECT_TRUE(instructions.has_instructions && !instructions.has_cycles);
    EXPECT_NEAR(static_cast<double>(instructions.instructions), mean * std::log(1.5), 2);
    EXPECT_NEAR(static_cast<double>(instructions.instruction_time), mean * std::log(1.6 / 0.8), 2);
    EXPECT_EQ(instructions.instructions + instructions.instruction_time, ns - peers);

    const Split cycles = split_from(gap(ns, unknown, 4'800'000), peer);
    EXPECT_TRUE(!cycles.has_instructions && cycles.has_cycles);
    EXPECT_NEAR(static_cast<double>(cycles.all_cycles), mean * std::log(1.5 * 1.6), 2);
    EXPECT_NEAR(static_cast<double>(cycles.frequency), mean * -std::log(0.8), 2);
    EXPECT_EQ(cycles.all_cycles + cycles.frequency, ns - peers);

    const Split nothing = split_from(gap(ns, unknown, unknown), peer);
    EXPECT_EQ(nothing.processor, ns - peers);
    const Split one_each = split_from(gap(ns, 1'500'000, unknown), gap(peers, unknown, 2'000'000));
    EXPECT_EQ(one_each.processor, ns - peers);
    EXPECT_FALSE(one_each.has_instructions || one_each.has_cycles);
}

TEST(Split, WhoIsBlockedAsLongLeavesTheDifferenceToPreempted)
{
    constexpr std::int64_t ms = 1'000'000;
    const Gap peer{150 * ms, 0, 50 * ms, 0, {}};
    const Gap own{250 * ms, 100 * ms, 50 * ms, 0, {}};
    const Split s = split_from(own, peer);
    EXPECT_NEAR(static_cast<double>(s.preempted), 100 * ms, 1000);
    EXPECT_NEAR(static_cast<double>(s.blocked), 0, 1000);
    EXPECT_NEAR(static_cast<double>(s.processor), 0, 1000);
    const Split back = split_from(peer, own);
    EXPECT_NEAR(static_cast<double>(back.preempted), -100 * ms, 1000);
    EXPECT_NEAR(static_cast<double>(back.blocked), 0, 1000);
}

TEST(Split, TimeOffTheProcessorIsSharedByDifferences)
{
    // By time on the processor, p and b: ln(1 + p + b) - ln(1 + p' + b') = ((p - p') + (b - b')) / mean.
    constexpr std::int64_t ms = 1'000'000;
    const Gap peer{100 * ms + 20 * ms + 40 * ms, 20 * ms, 40 * ms, 0, {}};
    const Gap own{200 * ms + 160 * ms + 20 * ms, 160 * ms, 20 * ms, 0, {}};
    const Split s = split_from(own, peer);
    const double mean = static_cast<double>(own.ns - peer.ns) / std::log(380.0 / 160);
    const double mean_factor = (1.9 - 1.6) / std::log(1.9 / 1.6);
    EXPECT_NEAR(static_cast<double>(s.processor), mean * std::log(2.0), 10);
    EXPECT_NEAR(static_cast<double>(s.preempted), mean * (0.8 - 0.2) / mean_factor, 10);
    EXPECT_NEAR(static_cast<double>(s.blocked), mean * (0.1 - 0.4) / mean_factor, 10);
    EXPECT_EQ(sum_of_parts(s), own.ns - peer.ns);
    // Preempted instead of blocked: the factor is the same, and what one is longer the other one is shorter.
    const Split other = split_from({150 * ms, 50 * ms, 0, 0, {}}, {150 * ms, 0, 50 * ms, 0, {}});
    EXPECT_NEAR(static_cast<double>(other.preempted), 50 * ms, 10);
    EXPECT_EQ(other.preempted, -other.blocked);
}

TEST(Split, IsFiniteAndExactWhateverTheGaps)
{
    std::mt19937_64 random(11);
    const auto draw = [&](std::int64_t most) {
        const auto limit = static_cast<std::uint64_t>(most) >> (random() % 40);
        return static_cast<std::int64_t>(random() % (limit + 1));
    };
    for (int round = 0; round < 2000; ++round) {
        const auto gap = [&] {
            Gap g;
            g.ns = draw(100'000'000'000);
            g.preempted = random() % 3 == 0 ? draw(g.ns) : 0;
            g.blocked = random() % 3 == 0 ? g.ns - g.preempted : 0;  // no time on the processor
            if (random() % 4 != 0)
                g.counted.instructions = draw(1'000'000'000'000);
            if (random() % 4 != 0)
                g.counted.cycles = draw(1'000'000'000'000);
            return g;
        };
        const Gap own = gap();
        PeerSums others;
        for (std::uint64_t n = random() % 4 + 1; n > 0; --n)
            others.add(gap(), own.ns);
        const std::int64_t path_ns = draw(own.ns);
        const Split s = split(own, others, path_ns);
        EXPECT_EQ(s.peers + sum_of_parts(s), path_ns);
        EXPECT_GE(s.peers, 0);
    }
}

TEST(Paces, IntervalsHoldTheTruthAsOftenAsTheySay)
{
    std::mt19937 random(17);
    std::lognormal_distribution<double> rate(std::log(2.0), 0.3);
    std::uniform_real_distribution<double> length(0.5, 1.5);
    const double truth = std::log(2.0) + 0.3 * 0.3 / 2;  // of the mean rate
    constexpr int runs = 2000;
    int held = 0;
    for (int run = 0; run < runs; ++run) {
        std::vector<CountedTime> parts(40);
        for (CountedTime& part : parts) {
            part.ns = length(random) * 5e6;
            part.cycles = part.ns * rate(random);
        }
        const replayer::Ratio found = ratio(parts, &CountedTime::cycles, &CountedTime::ns);
        const double error = 1.96 * std::sqrt(static_cast<double>(found.variance) / replayer::fixed_one);
        held += std::abs(static_cast<double>(found.log) / replayer::fixed_one - truth) < error ? 1 : 0;
    }
    EXPECT_NEAR(held, 0.94 * runs, 0.03 * runs);  // of few samples, a little less than of many
}

TEST(Paces, OnlySamplesCountThatTellOfThePlace)
{
    const auto time = [](std::int64_t t) { return model::Ns{t * us}; };
    model::LocationTrace trace;
    trace.end = time(1000);
    trace.calls.add(time(0), time(10), {0});
    trace.calls.add(time(500), time(505), {1});
    trace.calls.add(time(900), time(905), {0});
    trace.off = {{time(110), time(190), true}};
    const auto sample = [&](std::int64_t at, std::int64_t instructions) {
        trace.samples.push_back({time(at), {2}, 0, 0, 0});
        trace.sample_counts.push_back(std::array{instructions}, false);
    };
    sample(8, 1);          // nobody knows since when
    sample(108, 2);        // nearly all in the first gap
    sample(195, 30);       // 7 us on the processor
    sample(400, -1);       // not known
    sample(498, 400);      //
    sample(600, 5000);     // mostly behind the call
    sample(700, 60'000);   // in the second gap
    sample(950, 700'000);  // and behind it
    const replayer::PaceEvents events{0, {}};
    replayer::Gaps gaps(trace);
    EXPECT_EQ(replayer::pace(gaps, std::vector<std::uint32_t>{1}, events).samples, 3);
    EXPECT_EQ(replayer::pace(gaps, std::vector<std::uint32_t>{2}, events).samples, 2);
    EXPECT_EQ(replayer::pace(gaps, std::vector<std::uint32_t>{1, 2}, events).samples, 5);
}

TEST(Variances, AreUnbiased)
{
    // y = node + rank + chance, of known variances; the mean estimate of many runs is the truth.
    constexpr int nodes = 4, per_node = 5, ranks = nodes * per_node, occurrences = 12, runs = 400;
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    double noise = 0, node = 0, rest = 0, rank = 0;
    for (int run = 0; run < runs; ++run) {
        std::vector<std::vector<std::int64_t>> y(ranks);
        std::vector<double> of_node(nodes);
        for (double& n : of_node)
            n = 0.3 * normal(random);
        for (int r = 0; r < ranks; ++r) {
            const double of_rank = of_node[static_cast<std::size_t>(r / per_node)] + 0.2 * normal(random);
            for (int k = 0; k < occurrences; ++k)
                y[static_cast<std::size_t>(r)].push_back(
                    std::llround((of_rank + 0.5 * normal(random)) * replayer::fixed_one));
        }
        replayer::EffectSums sums;
        sums.ranks = ranks;
        sums.occurrences = occurrences;
        sums.nodes.resize(nodes);
        for (std::size_t k = 0; k < occurrences; ++k) {
            std::int64_t mean = 0;
            for (const auto& row : y)
                mean += row[k] / ranks;
            for (auto& row : y)
                row[k] -= mean;
        }
        for (std::size_t r = 0; r < ranks; ++r) {
            const replayer::Effect effect = replayer::effect_of(y[r]);
            sums.squared += effect.squared;
            sums.rest += effect.rest;
            sums.nodes[r / per_node].ranks += 1;
            sums.nodes[r / per_node].mean += effect.mean;
        }
        const replayer::Variances found = replayer::variances(sums);
        noise += found.noise / runs;
        rank += found.rank / runs;
        node += found.node / runs;
        rest += found.node_rest / runs;
    }
    EXPECT_NEAR(noise, 0.25, 0.005);
    EXPECT_NEAR(rest, 0.04, 0.004);
    EXPECT_NEAR(node, 0.09, 0.015);
    EXPECT_NEAR(rank, 0.11, 0.02);  // that between nodes in the ranks of a sample of nodes
}

}  // namespace
}  // namespace critpath::tests

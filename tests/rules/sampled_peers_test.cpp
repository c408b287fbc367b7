// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Why the rank on the path takes longer than its peers, where nothing but samples counts what it does.
#include "tests/rules/steps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace critpath::tests
{
namespace
{

/// What each rank's samples count in a microsecond.
struct Pace {
    std::int64_t instructions, cycles, cache_misses = 0, branch_misses = 0;

    [[nodiscard]] std::int64_t of(const std::string& event) const
    {
        const std::map<std::string, std::int64_t> others = {
            {"cycles", cycles}, {"cache-misses", cache_misses}, {"branch-misses", branch_misses}};
        const auto found = others.find(event);
        return found == others.end() ? instructions : found->second;
    }
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
                    counts.emplace_back(event, counted.of(event) * wobble / 10);
                program[rank].counts(counts);
            }
}

TEST(SampledPeers, SamplesAloneTellWorkFromMemoryFromFrequency)
{
    struct Case {
        Pace pace;  // of the slow rank; the others have 1000 instructions and 2000 cycles
        std::int64_t model::Difference::*part;
        std::int64_t model::Difference::*error;
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
        EXPECT_EQ(rank_of(r, 1).*part, s.*part);
        EXPECT_EQ(rank_of(r, 1).*error, s.*error);
        EXPECT_EQ(rank_of(r, 1).processor_ns, 0);
        EXPECT_EQ(s.fewest_samples, 200);  // of each step, all but the first
        EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
    }
}

TEST(SampledPeers, SamplesTellHowOftenInstructionsMissCaches)
{
    const auto run = [](const std::vector<std::string>& events) {
        Program p(4);
        run_sampled_steps(
            p, 21, events, [](int rank) { return Work{rank == 1 ? 200 : 100}; },
            [](int rank) {
                return rank == 1 ? Pace{500, 2000, 300, 0} : Pace{1000, 2000, rank == 2 ? 80 : 20, 30};
            });
        const Replayed r = replay(p);
        EXPECT_EQ(text(r.profile), text(replay_alone(p, replayer::Rules::Arrival).profile));
        return step_of(r);
    };
    const model::Stretch s = run({"cycles", "instructions", "cache-misses", "branch-misses"});
    constexpr double instructions = 1e9;
    EXPECT_EQ(s.cache_misses_ns, s.path_ns);
    EXPECT_NEAR(static_cast<double>(s.cache_misses), 0.6 * instructions, 1e3);
    const double peers = std::cbrt(0.08 * 0.02 * 0.02);  // the geometric mean
    EXPECT_NEAR(static_cast<double>(s.peers_cache_misses), peers * instructions, 1e3);
    EXPECT_LT(s.cache_misses_error, 10'000'000);  // each sample has as many: 1 %
    EXPECT_EQ(s.branch_misses_ns, s.path_ns);
    EXPECT_NEAR(static_cast<double>(s.peers_branch_misses), 0.03 * instructions, 1e3);
    // None that was seen: half a one of all instructions of 20 steps, of which 200 us each count.
    EXPECT_NEAR(static_cast<double>(s.branch_misses), 0.5 / (20 * 200 * 500.0) * instructions, 1);
    EXPECT_NEAR(static_cast<double>(s.branch_misses_error), 1.96 * std::sqrt(2.0) * 1e9, 1e7);

    const model::Stretch without = run({"cycles", "instructions"});
    EXPECT_EQ(without.cache_misses_ns, 0);
    const model::Stretch no_instructions = run({"cycles", "cache-misses"});
    EXPECT_EQ(no_instructions.cache_misses_ns, 0);
    EXPECT_EQ(no_instructions.cache_misses, 0);
}

TEST(SampledPeers, OneEventOfSamplesTellsAsMuchAsItCan)
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

TEST(SampledPeers, FewSamplesTellNothing)
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

TEST(SampledPeers, CountersOfGapsGoBeforeSamples)
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

}  // namespace
}  // namespace critpath::tests

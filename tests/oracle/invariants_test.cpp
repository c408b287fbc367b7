// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What must hold of any program, whatever it does. (Others: that the path is one chain as long as the run stands in
// check.cpp; that all numbers of processes and both engines find the same, in tests/literal; clocks, in
// clocks_test.cpp)
#include "replayer/pair/call_costs.hpp"
#include "replayer/resolve/resolve.hpp"
#include "tests/oracle/check.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>

namespace critpath::oracle
{
namespace
{

using model::SegmentKind;

#ifdef CRITPATH_SANITIZED
constexpr std::uint32_t varied_programs = 4, concluded_programs = 12;
#else
constexpr std::uint32_t varied_programs = 30, concluded_programs = 300;
#endif

std::int64_t time_of(const tests::Replayed& replayed, SegmentKind kind)
{
    std::int64_t time = 0;
    for (const model::Segment& segment : replayed.segments)
        if (static_cast<SegmentKind>(segment.kind) == kind)
            time += segment.end - segment.begin;
    return time;
}

/// Of each call, where the path jumps from it, or how it goes through it.
std::map<model::CallRef, std::string> words_of(const replayer::Replay& loaded,
                                               const replayer::Predecessors& predecessors)
{
    std::map<model::CallRef, std::string> words;
    for (std::size_t p = 0; p < loaded.processes.size(); ++p)
        for (std::size_t l = 0; l < loaded.processes[p].locations.size(); ++l) {
            const model::LocationTrace& location = loaded.processes[p].locations[l];
            const replayer::LocationPredecessors& of = predecessors.processes[p][l];
            for (std::uint32_t call = 0, jump = 0; call < location.calls.size(); ++call) {
                std::string& said = words[{location.location, {call}}];
                if (jump < of.jumps.size() && of.jumps.call(jump) == call) {
                    const replayer::KnownJump j = of.jumps.known(jump++, location);
                    said = fmt::format("{}.{} to {}.{} at {}: {} bytes, {} {}", location.location.value, call,
                                       j.to.location.value, j.to.call.value, j.to_enter.count(), j.bytes,
                                       static_cast<int>(j.kind), static_cast<int>(j.confidence));
                } else {
                    said = fmt::format("{}.{} {} {}", location.location.value, call,
                                       static_cast<int>(of.through[call].kind),
                                       static_cast<int>(of.through[call].confidence));
                }
            }
        }
    return words;
}

/// What is said of a call before all collectives have been seen, by call.
std::map<model::CallRef, std::string> conclusions(const replayer::Replay& loaded)
{
    const auto& engine = replayer::aggregated_engine;
    replayer::rules::Calibration calibration;
    calibration.clocks = replayer::rules::ClockUncertainty(loaded.definitions);
    calibration.calls = replayer::calibrate_calls(loaded);
    engine.pair(loaded, calibration);
    replayer::learn_one_sided(loaded, calibration);
    auto answers = replayer::first_answers(loaded, calibration.calls);
    const replayer::Conclude conclude = replayer::conclude_at_once(loaded, calibration, answers);
    std::vector<model::CallRef> concluded;
    replayer::collect(
        loaded, calibration, engine.reduce_instances,
        [&](const replayer::Part& part, const replayer::rules::Member& member,
            const replayer::rules::CollectiveCase& instance) {
            const bool is_answered =
                instance.operation.dependence == replayer::rules::Dependence::Members && !instance.is_alone();
            const bool done = conclude(part, member, instance);
            if (done && is_answered && loaded.processes[part.process].collectives[part.collective].is_blocking())
                concluded.push_back(member.enter.call);
            return done;
        });
    replayer::Predecessors early;
    for (replayer::ProcessAnswers& of_process : answers)
        early.processes.push_back(of_process.finish());
    const auto words = words_of(loaded, early);
    std::map<model::CallRef, std::string> result;
    for (const model::CallRef call : concluded)
        result[call] = words.at(call);
    return result;
}

/// What is concluded before all collectives have been seen is what is concluded afterwards, however long they turn out
/// to take.
TEST(Invariants, WhatIsConcludedAtOnceStays)
{
    std::vector<std::optional<replayer::rules::CollectiveTimes>> least_times(1);
    for (const int ticks : {5, 50, 500, 5000}) {
        Machine slow;
        slow.collective = ticks;
        replayer::rules::Calibration told;
        tell(slow, told);
        least_times.emplace_back(told.collectives);
    }
    std::map<functions::CollectiveShape, std::uint32_t> seen;
    for (std::uint32_t seed = 1; seed <= concluded_programs; ++seed) {
        const Program p = expand(random_recipe(seed));
        const Machine machine = random_machine(seed);  // where calls take longer than what they depend on explains
        replayer::Replay loaded = load(p, machine, simulate(p, machine));
        loaded.rules = seed % 10 == 1   ? replayer::Rules::Enter
                       : seed % 10 == 2 ? replayer::Rules::Paper
                                        : replayer::Rules::Arrival;
        const auto at_once = conclusions(loaded);
        for (const auto& [call, words] : at_once) {
            const model::LocationTrace& location = loaded.trace_of(call.location);
            const model::Region& region = loaded.definitions.region(location.calls.context(call.call.value));
            ++seen[functions::info(region.function).shape];
        }
        for (const auto& times : least_times) {
            const tests::Knowledge know = [&](replayer::rules::Calibration& calibration) {
                if (times)
                    calibration.collectives = *times;
            };
            const auto later =
                words_of(loaded, tests::resolve(loaded, know, replayer::aggregated_engine, false).predecessors);
            for (const auto& [call, words] : at_once)
                EXPECT_EQ(words, later.at(call)) << "seed " << seed;
        }
    }
    EXPECT_GT(seen[functions::CollectiveShape::AllToAll], concluded_programs / 2);
    EXPECT_GT(seen[functions::CollectiveShape::OneToAll], concluded_programs / 2);
    EXPECT_GT(seen[functions::CollectiveShape::AllToOne], concluded_programs / 2);
}

/// Where it waited, the path goes to whatever it waited for.
TEST(Invariants, ThereIsNoWaitingOnThePath)
{
    for (std::uint32_t seed = 1; seed <= varied_programs; ++seed) {
        Recipe recipe = random_recipe(seed);
        recipe.ranks = std::max(recipe.ranks, 3);  // who is alone in a communicator has nobody to wait for
        const Program p = expand(recipe);
        const tests::Replayed replayed = analyze(p, {}, simulate(p, {}), Weights::Known);
        EXPECT_EQ(time_of(replayed, SegmentKind::Delay), 0) << "seed " << seed;
        EXPECT_EQ(time_of(replayed, SegmentKind::StartDelay), 0) << "seed " << seed;
    }
}

TEST(Invariants, AllThatIsOnThePathIsSomebodysAndSomewhere)
{
    for (std::uint32_t seed = 1; seed <= varied_programs; ++seed) {
        const Program p = expand(random_recipe(seed));
        const Machine machine;
        const tests::Replayed replayed = analyze(p, machine, simulate(p, machine), Weights::Learned);
        std::int64_t of_processes = 0, of_rows = 0, of_kinds = 0;
        for (const model::ProcessTotals& process : replayed.profile.processes) {
            of_processes += process.path_ns;
            EXPECT_LE(process.path_ns, replayed.fact("makespan_ns")) << "seed " << seed;
            EXPECT_LE(process.lifetime_ns - process.mpi_ns, replayed.fact("makespan_ns")) << "seed " << seed;
        }
        for (const auto& time : replayed.profile.path)
            of_rows += time.ns;
        for (const auto& time : replayed.profile.kinds)
            of_kinds += time.ns;
        EXPECT_EQ(of_processes, replayed.fact("makespan_ns")) << "seed " << seed;
        EXPECT_EQ(of_rows, replayed.fact("makespan_ns")) << "seed " << seed;
        EXPECT_EQ(of_kinds, replayed.fact("makespan_ns")) << "seed " << seed;
    }
}

// ---- delays

bool polls(const Program& program)
{
    return std::ranges::any_of(program.steps, [](const auto& steps) {
        return std::ranges::any_of(
            steps, [](const Step& step) { return step.kind == Kind::PollLoop || step.kind == Kind::ProbeLoop; });
    });
}

/// Which messages each call completed.
std::vector<std::vector<std::vector<std::uint64_t>>> winners(const Execution& execution)
{
    std::vector<std::vector<std::vector<std::uint64_t>>> result;
    for (const auto& calls : execution.calls) {
        auto& of_thread = result.emplace_back();
        for (const Call& call : calls) {
            auto& of_call = of_thread.emplace_back();
            for (const Message& message : call.completed)
                of_call.insert(of_call.end(), {message.request, static_cast<std::uint64_t>(message.peer)});
        }
    }
    return result;
}

/// A computation of a program, and the call that ends it.
struct Computation {
    int thread;
    std::size_t step;
    int call;
};

std::vector<Computation> computations(const Program& program)
{
    std::vector<Computation> result;
    for (int thread = 0; thread < program.threads(); ++thread) {
        int calls = 0;
        const auto& steps = program.steps[static_cast<std::size_t>(thread)];
        for (std::size_t i = 0; i < steps.size(); ++i)
            if (steps[i].kind == Kind::Compute)
                result.push_back({thread, i, calls});
            else if (steps[i].kind != Kind::Fork && steps[i].kind != Kind::Tool)
                ++calls;
    }
    return result;
}

/// The run takes as long if a computation takes longer by no more than its slack, and by just so much longer as it goes
/// beyond: the slack that the graph says is the one that there is. Other winners of a race make another program.
TEST(Invariants, SlackIsWhatCanBeLater)
{
    std::mt19937 random(1);
    std::uint32_t compared = 0, raced = 0;
    for (std::uint32_t seed = 1; seed <= 40 * varied_programs; ++seed) {
        const Program p = expand(random_recipe(seed));
        if (polls(p))
            continue;
        const Execution e = simulate(p, {});
        const auto all = computations(p);
        for (int i = 0; i < 4; ++i) {
            const Computation& chosen = all[random() % all.size()];
            const std::int64_t slack = e.graph.slack_of_gap(chosen.thread, chosen.call);
            if (slack >= std::numeric_limits<std::int32_t>::max())
                continue;  // nothing waits for it
            for (const std::int64_t more : {0, 100}) {
                Program delayed = p;
                delayed.steps[static_cast<std::size_t>(chosen.thread)][chosen.step].ticks += slack + more;
                const Execution late = simulate(delayed, {});
                if (winners(late) != winners(e)) {
                    ++raced;
                    continue;
                }
                ++compared;
                EXPECT_EQ(late.graph.last(), e.graph.last() + more)
                    << "seed " << seed << ", thread " << chosen.thread << ", call " << chosen.call;
            }
        }
    }
    EXPECT_GT(compared, 2 * raced);
    EXPECT_GT(compared, varied_programs);
}

// ---- other numbers for the same ranks

/// Ranks by other numbers: `to[r]` is what was r.
Program renumbered(const Program& program, const std::vector<int>& to)
{
    const auto at = [](int index) { return static_cast<std::size_t>(index); };
    Program result = program;
    for (std::size_t c = 1; c < program.comms.size(); ++c)
        for (int& member : result.comms[c])
            member = to[at(member)];
    for (int& rank : result.forked)
        rank = to[at(rank)];
    const auto rename = [&](int& member) { member = member >= 0 ? to[at(member)] : member; };
    const auto rename_in = [&](Step& step) {
        if (step.comm != 0)
            return;
        rename(step.peer);
        rename(step.source);
        rename(step.root);
        if (step.part)
            std::ranges::for_each(step.part->sources, rename);
    };
    for (int thread = 0; thread < program.threads(); ++thread) {
        std::vector<Step> steps = program.steps[at(thread)];
        for (Step& step : steps) {
            if (step.kind != Kind::Compute && step.kind != Kind::Fork)
                rename_in(step);
            std::ranges::for_each(step.starts, rename_in);
        }
        result.steps[at(thread < program.ranks ? to[at(thread)] : thread)] = std::move(steps);
    }
    return result;
}

bool counts_members(const Program& program)
{
    return std::ranges::any_of(program.steps, [](const auto& steps) {
        return std::ranges::any_of(steps, [](const Step& step) {
            const bool is_collective = step.kind == Kind::Collective || step.kind == Kind::Icollective;
            return is_collective && step.comm == 0 &&
                   functions::info(step.function).shape == functions::CollectiveShape::Prefix;
        });
    });
}

/// What is at stake on each rank, if it does not matter which of equals was taken.
std::map<int, std::int64_t> shares(const tests::Replayed& replayed, const std::vector<int>& to)
{
    std::map<int, std::int64_t> result;
    for (std::size_t r = 0; r < to.size(); ++r)
        result[static_cast<int>(r)] = replayed.profile.processes[static_cast<std::size_t>(to[r])].path_ns;
    return result;
}

/// Prefix operations go by rank, so they are left out. Of ranks that are equally late one is chosen by its number;
/// random computations make that rare.
TEST(Invariants, NumbersOfRanksDoNotMatter)
{
    std::mt19937 random(2);
    int same = 0, other = 0;
    for (std::uint32_t seed = 1; seed <= 2 * varied_programs; ++seed) {
        Program p = expand(random_recipe(seed));
        if (counts_members(p))
            continue;
        std::vector<int> unchanged(static_cast<std::size_t>(p.ranks));
        std::iota(unchanged.begin(), unchanged.end(), 0);
        std::vector<int> to = unchanged;
        std::ranges::shuffle(to, random);
        for (const int r : unchanged)  // nobody begins together with another
            p.steps[static_cast<std::size_t>(r)].insert(p.steps[static_cast<std::size_t>(r)].begin(),
                                                        {.kind = Kind::Compute, .ticks = 100 * r});
        const Program q = renumbered(p, to);
        const Execution before = simulate(p, {}), after = simulate(q, {});
        const tests::Replayed a = analyze(p, {}, before, Weights::Known), b = analyze(q, {}, after, Weights::Known);
        EXPECT_THAT(judge(after, {}, b.segments).faults, testing::ElementsAre()) << "seed " << seed;
        if (before.graph.last() != after.graph.last()) {
            ++other;  // a message for anybody went to another one of several that came at once
            continue;
        }
        ++(shares(a, unchanged) == shares(b, to) ? same : other);
    }
    EXPECT_GT(same, 10 * other);
}

}  // namespace
}  // namespace critpath::oracle

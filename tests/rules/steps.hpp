// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns programs that work and meet in steps, and what is found of a step.
#pragma once

#include "tests/builder/replayed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace critpath::tests
{

/// What a rank does in a step before it enters the Allreduce that ends it: on its processor, preempted, blocked, us;
/// then what it counts, if it does.
struct Work {
    std::int64_t on = 100;
    std::int64_t preempted = 0;
    std::int64_t blocked = 0;
    std::int64_t instructions = -1;
    std::int64_t cycles = -1;
    bool has_migrated = false;  // when it was preempted
    [[nodiscard]] std::int64_t all() const { return on + preempted + blocked; }
};

/// Steps of so much work each, as a BSP program has them. `sites`: by rank, where its calls are made, if that is known.
inline void run_steps(Program& program, int steps, const std::function<Work(int rank, int step)>& work,
                      const std::vector<std::uint64_t>& sites = {})
{
    std::int64_t time = 10;
    for (int rank = 0; rank < program.ranks(); ++rank) {
        program[rank].called_from({"main", "step"}, sites.empty() ? 0 : sites[static_cast<std::size_t>(rank)]);
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
                program[rank].off({time + 1, time + 1 + w.preempted}, true, w.has_migrated);
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

/// A token goes around, and who has it works, us: the first rank has it before it has ever received it, so that it
/// comes by once less.
inline void pass_token(Program& program, int rounds, const std::function<std::int64_t(int rank)>& work)
{
    const int ranks = program.ranks();
    std::int64_t time = 10;
    std::vector<std::int64_t> waits(static_cast<std::size_t>(ranks), time);
    for (int round = 0; round < rounds; ++round)
        for (int rank = 0; rank < ranks; ++rank) {
            const auto self = static_cast<std::size_t>(rank);
            if (round > 0 || rank > 0)
                program[rank].recv({waits[self], time + 1}, (rank + ranks - 1) % ranks);
            time += 1 + work(rank);
            program[rank].send({time, time + 1}, (rank + 1) % ranks);
            waits[self] = time + 1;
        }
    program[0].recv({waits[0], time + 2}, ranks - 1);
    program.finish(time + 3);
}

/// "start": in front of the first one.
inline std::string function(const Replayed& r, model::CallPathId call)
{
    return call.valid() ? r.profile.row(call).name : "start";
}

/// The stretch between two functions.
inline model::Stretch stretch(const Replayed& r, const std::string& before, const std::string& after)
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

inline model::Stretch step_of(const Replayed& r)
{
    return stretch(r, "MPI_Allreduce", "MPI_Allreduce");
}

/// What is known of one process in the costliest stretch; nothing if it has no notable part of it.
inline model::StretchRank rank_of(const Replayed& r, std::uint32_t process)
{
    const auto& all = r.profile.stretch_ranks;
    const auto found = std::ranges::find_if(
        all, [&](const model::StretchRank& rank) { return rank.stretch == 0 && rank.process.value == process; });
    return found == all.end() ? model::StretchRank() : *found;
}

inline std::int64_t sum_of_parts(const model::Difference& s)
{
    return s.instructions_ns + s.cycles_ns + s.frequency_ns + s.instruction_time_ns + s.all_cycles_ns + s.processor_ns +
           s.preempted_ns + s.blocked_ns;
}

/// Which part of the differences between ranks is always the same ones.
inline double rank_share(const model::Stretch& s)
{
    return static_cast<double>(s.rank_variance) / static_cast<double>(s.rank_variance + s.noise_variance);
}

}  // namespace critpath::tests

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what all parts of a simulation share: the program, the machine with its noise, the scheduler, and the requests.
#pragma once

#include "tests/oracle/simulation/requests.hpp"
#include "tests/oracle/simulation/scheduler.hpp"

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace critpath::oracle
{

struct World {
    const Program& program;
    const Machine& machine;
    Scheduler scheduler;
    Requests requests;
    std::mt19937_64 random;

    World(const Program& p, const Machine& m, Scheduler::Free free);

    /// Noise of at most so many ticks.
    std::int64_t draw(std::int64_t most);

    [[nodiscard]] int rank_of(int thread) const { return program.rank_of(thread); }
    [[nodiscard]] int world_rank(std::size_t comm, int rank) const;
    [[nodiscard]] int rank_in(std::size_t comm, int world) const;

    [[nodiscard]] bool is_done(const Posted* posted) const
    {
        return posted->done && posted->done->time <= scheduler.now();
    }
    /// The thread may wait for what is done at that time.
    void notify_at(std::int64_t time, int rank);
    /// Calls `action` with the enter of the next call of the rank in which it looks at what is under way; at once, and
    /// with nothing, if it is in one.
    void when_inside(int rank, std::function<void(const std::optional<Node>&)> action);
    /// All threads of a rank.
    void notify_threads(int rank);

private:
    [[nodiscard]] bool looks(FunctionId function) const;

    std::map<int, std::vector<std::function<void(const std::optional<Node>&)>>> waiting_for_enter_;  // by rank
};

}  // namespace critpath::oracle

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the time of a simulation: what happens when, which calls each rank makes meanwhile, and what their leaves depend
// on. Knows nothing of what the calls do.
#pragma once

#include "tests/oracle/simulate.hpp"

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace critpath::oracle
{

class Scheduler
{
public:
    using Action = std::function<void()>;
    using Attempt = std::function<bool()>;  // true if it could go on
    using Free = std::function<void(int rank)>;

    /// `free` is what a rank does when it is free to go on: the next step of its program. Here ranks are threads; of
    /// all, so many are awake at the beginning, and enter MPI_Finalize in the end.
    Scheduler(int ranks, int awake, Free free);

    [[nodiscard]] std::int64_t now() const { return now_; }
    void later(std::int64_t time, Action action);
    /// Until nothing is left to happen.
    void run();

    /// The rank is free at that time.
    void wake(int rank, std::int64_t time);
    /// The rank stands still until `attempt` succeeds, which is tried now and whenever the rank is notified.
    void wait(int rank, Attempt attempt);
    void notify(int rank);
    [[nodiscard]] bool waits(int rank) const { return static_cast<bool>(ranks_[at(rank)].waits); }

    /// Another one begins, now; its first call must begin at once. `after` is where this one has just left.
    void fork(const Node& after, int rank);
    /// The rank is in the collector's own work, from now on.
    void work_in_tool(int rank, std::int64_t ticks);

    /// The rank enters a call, now.
    Node enter(int rank, FunctionId function);
    /// The call takes `work`, and what else it depends on: the `to` of these is filled in here. The rank is free then.
    void leave(const Node& enter, std::int64_t work, const std::vector<Edge>& because = {});
    /// The call ends at a time that is known already and that `because` explains; what the rank does then is up to who
    /// says so.
    void leave_at(const Node& enter, std::int64_t time, const std::vector<Edge>& because);

    /// Whether the rank is in a call, now.
    [[nodiscard]] bool is_inside(int rank) const;
    /// The call that it is in, or was in last. It has made one.
    [[nodiscard]] const Call& last_call(int rank) const { return ranks_[at(rank)].calls.back(); }
    /// What is done first in each call that is entered from now on.
    void at_enter(std::function<void(const Node&)> action) { at_enter_ = std::move(action); }

    [[nodiscard]] std::int64_t time_of(const Node& node) const;
    [[nodiscard]] const std::vector<Call>& calls(int rank) const { return ranks_[at(rank)].calls; }
    Call& call_of(const Node& node) { return ranks_[at(node.rank)].calls[at(node.call)]; }

    /// Enters MPI_Finalize on all ranks, each when it is free, and hands over what happened.
    Execution finish();

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    struct Rank {
        std::int64_t free_at = 0;
        std::vector<Call> calls;
        std::vector<Times> times;
        std::vector<ToolTime> tool;
        Attempt waits;
    };

    struct Event {
        std::int64_t time;
        std::uint64_t order;
        Action action;
        bool operator<(const Event& other) const { return std::pair(time, order) > std::pair(other.time, other.order); }
    };

    Free free_;
    std::function<void(const Node&)> at_enter_;
    std::vector<Rank> ranks_;
    int awake_;
    std::vector<Edge> edges_;
    std::priority_queue<Event> events_;
    std::uint64_t next_order_ = 0;
    std::int64_t now_ = 0;
};

}  // namespace critpath::oracle

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/simulation/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace critpath::oracle
{

Scheduler::Scheduler(int ranks, int awake, Free free) : free_(std::move(free)), ranks_(at(ranks)), awake_(awake)
{
    for (int r = 0; r < awake; ++r)
        wake(r, 0);
}

void Scheduler::later(std::int64_t time, Action action)
{
    events_.push({time, next_order_++, std::move(action)});
}

void Scheduler::run()
{
    while (!events_.empty()) {
        const Event event = events_.top();
        events_.pop();
        if (event.time < now_)
            throw std::logic_error(fmt::format("time falls from {} to {}", now_, event.time));
        now_ = event.time;
        event.action();
    }
}

void Scheduler::wake(int rank, std::int64_t time)
{
    ranks_[at(rank)].free_at = time;
    later(time, [this, rank] { free_(rank); });
}

void Scheduler::wait(int rank, Attempt attempt)
{
    if (!attempt())
        ranks_[at(rank)].waits = std::move(attempt);
}

void Scheduler::notify(int rank)
{
    Rank& notified = ranks_[at(rank)];
    if (notified.waits && notified.waits())
        notified.waits = nullptr;
}

void Scheduler::fork(const Node& after, int rank)
{
    if (time_of(after) != now_)
        throw std::logic_error("a thread is forked in the middle of a computation");
    edges_.push_back({after, {rank, 0, false}, 0});
    wake(rank, now_);
}

void Scheduler::work_in_tool(int rank, std::int64_t ticks)
{
    ranks_[at(rank)].tool.push_back({now_, now_ + ticks});
    wake(rank, now_ + ticks);
}

Node Scheduler::enter(int rank, FunctionId function)
{
    Rank& entering = ranks_[at(rank)];
    entering.calls.push_back({function, {}, {}, {}, {}, 0, false, {}});
    entering.times.push_back({now_, now_});
    const Node node{rank, static_cast<int>(entering.calls.size()) - 1, false};
    if (at_enter_)
        at_enter_(node);
    return node;
}

bool Scheduler::is_inside(int rank) const
{
    const Rank& asked = ranks_[at(rank)];
    return asked.waits ||
           (!asked.times.empty() && (asked.times.back().enter == now_ || asked.times.back().leave > now_));
}

void Scheduler::leave(const Node& enter, std::int64_t work, const std::vector<Edge>& because)
{
    std::vector<Edge> all{{enter, {}, work}};
    all.insert(all.end(), because.begin(), because.end());
    std::int64_t time = time_of(enter);
    for (const Edge& edge : all)
        time = std::max(time, time_of(edge.from) + edge.weight);
    leave_at(enter, time, all);
    wake(enter.rank, time);
}

void Scheduler::leave_at(const Node& enter, std::int64_t time, const std::vector<Edge>& because)
{
    ranks_[at(enter.rank)].times[at(enter.call)].leave = time;
    for (Edge edge : because) {
        edge.to = {enter.rank, enter.call, true};
        edges_.push_back(edge);
    }
}

std::int64_t Scheduler::time_of(const Node& node) const
{
    const Times& times = ranks_[at(node.rank)].times[at(node.call)];
    return node.leave ? times.leave : times.enter;
}

Execution Scheduler::finish()
{
    at_enter_ = nullptr;
    std::vector<std::vector<Call>> calls;
    std::vector<std::vector<Times>> times;
    std::vector<std::vector<ToolTime>> tool;
    for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
        if (r < awake_) {
            now_ = ranks_[at(r)].free_at;
            const Node finalize = enter(r, FunctionId::MPI_Finalize);
            leave_at(finalize, now_, {{finalize, {}, 0}});
        }
        tool.push_back(std::move(ranks_[at(r)].tool));
        calls.push_back(std::move(ranks_[at(r)].calls));
        times.push_back(std::move(ranks_[at(r)].times));
    }
    return {std::move(calls), Graph(std::vector<std::int64_t>(ranks_.size(), 0), std::move(times), edges_),
            std::move(tool)};
}

}  // namespace critpath::oracle

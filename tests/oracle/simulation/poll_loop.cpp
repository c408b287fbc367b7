// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/simulation/poll_loop.hpp"

#include <algorithm>

namespace critpath::oracle
{

namespace
{

/// From here on, a gap between polls is work, and each poll in vain stands in the trace by itself.
constexpr std::int64_t least_work = 5;

}  // namespace

PollLoop::PollLoop(World& world) : scheduler_(world.scheduler), machine_(world.machine) {}

void PollLoop::run(int rank, const Poll& poll)
{
    if (is_there(poll))
        find(rank, poll, {});
    else if (poll.ticks >= least_work)
        poll_between_work(rank, poll);
    else
        poll_in_vain(rank, poll);
}

bool PollLoop::is_there(const Poll& poll) const
{
    const auto since = poll.since();
    return since && *since <= scheduler_.now();
}

/// The loop goes on as the program has it: when it ends depends on its own work.
void PollLoop::poll_between_work(int rank, const Poll& poll)
{
    const Node vain = scheduler_.enter(rank, poll.function);
    scheduler_.leave_at(vain, scheduler_.now() + machine_.call, {{vain, {}, machine_.call}});
    scheduler_.later(scheduler_.now() + machine_.call + poll.ticks, [this, rank, poll] {
        if (is_there(poll))
            find(rank, poll, {});
        else
            poll_between_work(rank, poll);
    });
}

/// Polls in vain are one call of the trace: from the first enter to the last leave.
void PollLoop::poll_in_vain(int rank, const Poll& poll)
{
    const Node vain = scheduler_.enter(rank, poll.function);
    scheduler_.wait(rank, [this, rank, vain, poll] {
        if (!is_there(poll))
            return false;
        const std::int64_t begin = scheduler_.time_of(vain);
        const std::int64_t round = machine_.call + poll.ticks;
        // The first poll that begins when it is there; the polls before that were in vain.
        const std::int64_t polls = std::max<std::int64_t>(1, (poll.since().value() - begin + round - 1) / round);
        const std::int64_t success = begin + polls * round;
        const std::int64_t end = success - poll.ticks;
        // How often it polls is a matter of when the message is there, if it was not sent after the last poll in
        // vain.
        const std::vector<Edge> reasons = poll.reasons();
        const Edge* cause = latest(reasons);
        const bool is_caused = polls > 1 && cause != nullptr && scheduler_.time_of(cause->from) <= end;
        std::vector<Edge> because{{vain, {}, is_caused ? machine_.call : end - begin}};
        if (is_caused)
            because.push_back({cause->from, {}, end - scheduler_.time_of(cause->from)});
        scheduler_.leave_at(vain, end, because);
        scheduler_.later(success, [this, rank, poll, reasons] { find(rank, poll, reasons); });
        return true;
    });
}

/// What was last of all that something needed; null if it needed nothing.
const Edge* PollLoop::latest(const std::vector<Edge>& because) const
{
    const auto last =
        std::ranges::max_element(because, {}, [this](const Edge& e) { return scheduler_.time_of(e.from) + e.weight; });
    return last == because.end() ? nullptr : &*last;
}

void PollLoop::find(int rank, const Poll& poll, const std::vector<Edge>& reasons)
{
    const Node call = scheduler_.enter(rank, poll.function);
    std::vector<Edge> because;
    if (const Edge* cause = latest(reasons); cause != nullptr)
        because.push_back({cause->from, {}, scheduler_.now() + machine_.call - scheduler_.time_of(cause->from)});
    poll.take(call);
    scheduler_.leave(call, machine_.call, because);
}

}  // namespace critpath::oracle

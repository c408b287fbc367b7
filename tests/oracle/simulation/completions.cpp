// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/simulation/completions.hpp"

#include <algorithm>
#include <iterator>

namespace critpath::oracle
{

Completions::Completions(World& world) : world_(world), scheduler_(world.scheduler), machine_(world.machine) {}

void Completions::complete(const Node& call, const Posted* posted)
{
    Call& completing = scheduler_.call_of(call);
    if (posted->collective)
        completing.collectives_completed.push_back(*posted->collective);
    else
        completing.completed.push_back(posted->message);
    world_.requests.remove(posted);
}

void Completions::wait_for_all(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    const std::vector<Posted*> open = world_.requests.find(rank, step.requests);
    scheduler_.wait(rank, [this, call, open] {
        if (!std::ranges::all_of(open, [this](const Posted* posted) { return world_.is_done(posted); }))
            return false;
        std::vector<Edge> because;
        for (const Posted* posted : open) {
            because.insert(because.end(), posted->done->because.begin(), posted->done->because.end());
            complete(call, posted);
        }
        scheduler_.leave(call, machine_.call, because);
        return true;
    });
}

void Completions::wait_for_one(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    const std::vector<Posted*> open = world_.requests.find(rank, step.requests);
    const bool some = step.kind == Kind::Waitsome;
    scheduler_.wait(rank, [this, call, open, some] {
        std::vector<Posted*> done;
        std::ranges::copy_if(open, std::back_inserter(done), [this](const Posted* p) { return world_.is_done(p); });
        if (done.empty() && !open.empty())
            return false;
        std::ranges::stable_sort(done, {}, [](const Posted* posted) { return posted->done->time; });
        const std::vector<Edge> because = done.empty() ? std::vector<Edge>{} : done.front()->done->because;
        for (const Posted* posted : done)
            if (some || posted == done.front())
                complete(call, posted);
        scheduler_.leave(call, machine_.call, because);
        return true;
    });
}

namespace
{

/// From here on, a gap between polls is work, and each poll in vain stands in the trace by itself.
constexpr std::int64_t least_work = 5;

bool wants_all(const Step& step)
{
    return step.function == FunctionId::MPI_Test || step.function == FunctionId::MPI_Testall;
}

/// MPI_Request_get_status only looks.
bool completes(const Step& step)
{
    return step.function != FunctionId::MPI_Request_get_status;
}

}  // namespace

void Completions::poll(int rank, const Step& step)
{
    const std::vector<Posted*> open = world_.requests.find(rank, step.requests);
    if (const auto since = done_since(step, open); since && *since <= scheduler_.now())
        finish_poll(rank, step, open, {});
    else if (step.ticks >= least_work)
        poll_between_work(rank, step, open);
    else
        poll_in_vain(rank, step, open);
}

/// When the poll would say yes; nothing: not known yet. Nothing to wait for is a yes.
std::optional<std::int64_t> Completions::done_since(const Step& step, const std::vector<Posted*>& open) const
{
    if (open.empty())
        return 0;
    std::optional<std::int64_t> since;
    for (const Posted* posted : open) {
        if (!posted->done && wants_all(step))
            return std::nullopt;
        if (posted->done && !since)
            since = posted->done->time;
        else if (posted->done)
            since = wants_all(step) ? std::max(*since, posted->done->time) : std::min(*since, posted->done->time);
    }
    return since;
}

/// The loop goes on as the program has it: when it ends depends on its own work.
void Completions::poll_between_work(int rank, const Step& step, const std::vector<Posted*>& open)
{
    const Node vain = scheduler_.enter(rank, step.function);
    scheduler_.leave_at(vain, scheduler_.now() + machine_.call, {{vain, {}, machine_.call}});
    scheduler_.later(scheduler_.now() + machine_.call + step.ticks, [this, rank, &step, open] {
        const auto since = done_since(step, open);
        if (since && *since <= scheduler_.now())
            finish_poll(rank, step, open, {});
        else
            poll_between_work(rank, step, open);
    });
}

/// Polls in vain are one call of the trace: from the first enter to the last leave.
void Completions::poll_in_vain(int rank, const Step& step, const std::vector<Posted*>& open)
{
    const Node vain = scheduler_.enter(rank, step.function);
    scheduler_.wait(rank, [this, rank, vain, &step, open] {
        const auto since = done_since(step, open);
        if (!since || *since > scheduler_.now())
            return false;
        const std::int64_t begin = scheduler_.time_of(vain);
        const std::int64_t round = machine_.call + step.ticks;
        // The first poll that begins when it is done; the polls before that were in vain.
        const std::int64_t polls = std::max<std::int64_t>(1, (*since - begin + round - 1) / round);
        const std::int64_t success = begin + polls * round;
        const std::int64_t end = success - step.ticks;
        // How often it polls is a matter of when the message is there, if it was not sent after the last poll in
        // vain.
        const std::vector<Edge> reasons = reasons_of(step, open);
        const Edge* cause = latest(reasons);
        const bool is_caused = polls > 1 && cause != nullptr && scheduler_.time_of(cause->from) <= end;
        std::vector<Edge> because{{vain, {}, is_caused ? machine_.call : end - begin}};
        if (is_caused)
            because.push_back({cause->from, {}, end - scheduler_.time_of(cause->from)});
        scheduler_.leave_at(vain, end, because);
        scheduler_.later(success, [this, rank, &step, open, reasons] { finish_poll(rank, step, open, reasons); });
        return true;
    });
}

/// What the end of the loop depends on: all requests, or the one that was done first.
std::vector<Edge> Completions::reasons_of(const Step& step, const std::vector<Posted*>& open)
{
    std::vector<Edge> reasons;
    const Posted* first = nullptr;
    for (const Posted* posted : open) {
        if (!posted->done)
            continue;
        if (first == nullptr || posted->done->time < first->done->time)
            first = posted;
        if (wants_all(step))
            reasons.insert(reasons.end(), posted->done->because.begin(), posted->done->because.end());
    }
    return wants_all(step) || first == nullptr ? reasons : first->done->because;
}

/// What was last of all that something needed; null if it needed nothing.
const Edge* Completions::latest(const std::vector<Edge>& because) const
{
    const auto last =
        std::ranges::max_element(because, {}, [this](const Edge& e) { return scheduler_.time_of(e.from) + e.weight; });
    return last == because.end() ? nullptr : &*last;
}

void Completions::finish_poll(int rank, const Step& step, const std::vector<Posted*>& open,
                              const std::vector<Edge>& reasons)
{
    const Node call = scheduler_.enter(rank, step.function);
    std::vector<Edge> because;
    if (const Edge* cause = latest(reasons); cause != nullptr)
        because.push_back({cause->from, {}, scheduler_.now() + machine_.call - scheduler_.time_of(cause->from)});
    std::vector<Posted*> done;
    std::ranges::copy_if(open, std::back_inserter(done), [this](const Posted* p) { return world_.is_done(p); });
    std::ranges::stable_sort(done, {}, [](const Posted* posted) { return posted->done->time; });
    for (const Posted* posted : done)
        if (completes(step) && (step.function != FunctionId::MPI_Testany || posted == done.front()))
            complete(call, posted);
    scheduler_.leave(call, machine_.call, because);
}

}  // namespace critpath::oracle

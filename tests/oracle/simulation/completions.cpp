// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/simulation/completions.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace critpath::oracle
{

Completions::Completions(World& world)
    : world_(world), scheduler_(world.scheduler), machine_(world.machine), loop_(world)
{
}

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

bool wants_all(const Step& step)
{
    return step.function == FunctionId::MPI_Test || step.function == FunctionId::MPI_Testall;
}

/// MPI_Request_get_status only looks.
bool completes(const Step& step)
{
    return step.function != FunctionId::MPI_Request_get_status;
}

/// When the poll would say yes; nothing: not known yet. Nothing to wait for is a yes.
std::optional<std::int64_t> done_since(const Step& step, const std::vector<Posted*>& open)
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

/// What the end of the loop depends on: all requests, or the one that was done first.
std::vector<Edge> reasons_of(const Step& step, const std::vector<Posted*>& open)
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

}  // namespace

void Completions::poll(int rank, const Step& step)
{
    const std::vector<Posted*> open = world_.requests.find(rank, step.requests);
    loop_.run(rank, {step.function, step.ticks, [&step, open] { return done_since(step, open); },
                     [&step, open] { return reasons_of(step, open); },
                     [this, &step, open](const Node& call) { complete_found(call, step, open); }});
}

void Completions::complete_found(const Node& call, const Step& step, const std::vector<Posted*>& open)
{
    std::vector<Posted*> done;
    std::ranges::copy_if(open, std::back_inserter(done), [this](const Posted* p) { return world_.is_done(p); });
    std::ranges::stable_sort(done, {}, [](const Posted* posted) { return posted->done->time; });
    for (const Posted* posted : done)
        if (completes(step) && (step.function != FunctionId::MPI_Testany || posted == done.front()))
            complete(call, posted);
}

}  // namespace critpath::oracle

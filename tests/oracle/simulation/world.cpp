// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/simulation/world.hpp"

#include <algorithm>
#include <utility>

namespace critpath::oracle
{

namespace
{

bool only_posts(FunctionId function)
{
    switch (functions::semantic_class(function)) {
    case functions::SemanticClass::Isend:
    case functions::SemanticClass::Irecv:
    case functions::SemanticClass::Start:
    case functions::SemanticClass::Startall:
    case functions::SemanticClass::Icollective:
    case functions::SemanticClass::CommIdup:
        return true;
    default:
        return false;
    }
}

}  // namespace

World::World(const Program& p, const Machine& m, Scheduler::Free free)
    : program(p), machine(m), scheduler(p.threads(), p.ranks, std::move(free)), requests(p), random(m.seed)
{
    scheduler.at_enter([this](const Node& call) {
        if (!looks(scheduler.call_of(call).function))
            return;
        const auto waiting = waiting_for_enter_.extract(rank_of(call.rank));
        if (waiting)
            for (const auto& action : waiting.mapped())
                action(call);
    });
}

std::int64_t World::draw(std::int64_t most)
{
    return most == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
}

int World::world_rank(std::size_t comm, int rank) const
{
    return program.comms[comm][static_cast<std::size_t>(rank)];
}

int World::rank_in(std::size_t comm, int world) const
{
    const auto& members = program.comms[comm];
    return static_cast<int>(std::ranges::find(members, world) - members.begin());
}

void World::notify_at(std::int64_t time, int rank)
{
    scheduler.later(std::max(scheduler.now(), time), [this, rank] { scheduler.notify(rank); });
}

void World::when_inside(int rank, std::function<void(const std::optional<Node>&)> action)
{
    for (int thread = 0; thread < program.threads(); ++thread)
        if (rank_of(thread) == rank && scheduler.is_inside(thread) && looks(scheduler.last_call(thread).function))
            return action(std::nullopt);
    waiting_for_enter_[rank].push_back(std::move(action));
}

bool World::looks(FunctionId function) const
{
    return machine.posts_look || !only_posts(function);
}

void World::notify_threads(int rank)
{
    for (int thread = 0; thread < program.threads(); ++thread)
        if (rank_of(thread) == rank)
            scheduler.notify(thread);
}

}  // namespace critpath::oracle

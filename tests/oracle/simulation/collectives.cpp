// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/simulation/collectives.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace critpath::oracle
{

namespace
{

std::vector<int> range(int from, int to)
{
    std::vector<int> result(static_cast<std::size_t>(std::max(0, to - from)));
    std::iota(result.begin(), result.end(), from);
    return result;
}

}  // namespace

std::vector<int> needed_members(FunctionId function, int rank, int size, int root)
{
    using functions::CollectiveShape;
    if (function == FunctionId::MPI_Init)
        return range(0, size);
    switch (functions::info(function).shape) {
    case CollectiveShape::AllToAll:
        return range(0, size);
    case CollectiveShape::OneToAll:
        return rank == root ? std::vector<int>{} : std::vector<int>{root};
    case CollectiveShape::AllToOne:
        return rank == root ? range(0, size) : std::vector<int>{};
    case CollectiveShape::Prefix:
        return range(0, rank + (function == FunctionId::MPI_Exscan || function == FunctionId::MPI_Iexscan ? 0 : 1));
    default:
        throw std::logic_error("no such collective in the oracle");
    }
}

Collectives::Collectives(World& world) : world_(world), scheduler_(world.scheduler), machine_(world.machine) {}

/// Tells all who wait for this one, and the one itself.
Posted* Collectives::join(const Node& call, const Step& step, int request)
{
    const int number = posted_[{call.rank, step.comm}]++;
    const int size = static_cast<int>(world_.program.comms[step.comm].size());
    const int member = world_.rank_in(step.comm, call.rank);
    Posted* posted = world_.requests.add({call.rank, request, call, scheduler_.now(), {}});
    posted->collective = CollectiveOperation{step.function, step.comm, step.root, step.bytes, posted->message.request};
    Gathering& gathering = gatherings_[{step.comm, number}];
    gathering.came[member] = call;
    gathering.waiting.emplace_back(member, posted);
    for (auto& [waiting, theirs] : gathering.waiting) {
        if (theirs->done)
            continue;
        const std::vector<int> needed = needed_members(step.function, waiting, size, step.root);
        if (!std::ranges::all_of(needed, [&](int one) { return gathering.came.contains(one); }))
            continue;
        const std::int64_t completion = machine_.collective + world_.draw(machine_.skew);
        Done done;
        for (const int one : needed) {
            done.because.push_back({gathering.came[one], {}, completion});
            done.time = std::max(done.time, scheduler_.time_of(gathering.came[one]) + completion);
        }
        theirs->done = done;
        world_.notify_at(done.time, theirs->rank);
    }
    return posted;
}

void Collectives::collective(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    const Posted* posted = join(call, step, -1);
    scheduler_.call_of(call).collectives_completed.push_back(*posted->collective);
    scheduler_.wait(rank, [this, call, posted] {
        if (!world_.is_done(posted))
            return false;
        scheduler_.leave(call, machine_.call, posted->done->because);
        return true;
    });
}

void Collectives::icollective(int rank, const Step& step)
{
    const Node call = scheduler_.enter(rank, step.function);
    const Posted* posted = join(call, step, step.request);
    scheduler_.call_of(call).collectives_posted.push_back(*posted->collective);
    scheduler_.leave(call, machine_.call);
}

}  // namespace critpath::oracle

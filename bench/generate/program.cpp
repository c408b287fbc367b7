// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/generate/program.hpp"

#include "formats/otf2/function_map.hpp"

#include <algorithm>
#include <numeric>

namespace critpath::bench
{

namespace
{

constexpr Time before_init = 10'000;

otf2::CollectiveEnd operation(FunctionId function, OTF2_CommRef comm, std::uint64_t sent, std::uint64_t received,
                              std::uint32_t root = OTF2_COLLECTIVE_ROOT_NONE)
{
    return {otf2::collective_operation(function).value(), comm, root, sent, received};
}

}  // namespace

Program::Program(const Options& options, const Dice& dice, Vocabulary& vocabulary, Trace& trace)
    : options_(options), dice_(dice), vocabulary_(vocabulary), trace_(trace), machine_{options.ranks_a_node},
      jitter_(static_cast<std::uint64_t>(options.noise * 1000)), world_{Vocabulary::world, {}},
      now_(static_cast<std::size_t>(options.locations), start_of_time)
{
    world_.ranks.resize(static_cast<std::size_t>(options.locations));
    std::iota(world_.ranks.begin(), world_.ranks.end(), 0);
}

Time Program::work(int rank, std::uint64_t step) const
{
    auto base = static_cast<double>(options_.work);
    if (rank == options_.slow_rank)
        base *= 1 + options_.imbalance;
    const auto longest = static_cast<std::uint64_t>(base * options_.noise);
    return static_cast<Time>(base) +
           static_cast<Time>(dice_.below(longest, Purpose::Work, step, static_cast<std::uint64_t>(rank)));
}

Time Program::delay(std::uint64_t edge, std::uint64_t step) const
{
    return static_cast<Time>(dice_.below(jitter_, Purpose::Message, step, edge));
}

Time Program::skew(int rank) const
{
    return static_cast<Time>(dice_.below(jitter_, Purpose::Collective, collectives_, static_cast<std::uint64_t>(rank)));
}

void Program::start()
{
    begin_ = start_of_time;
    for (int rank = 0; rank < ranks(); ++rank) {
        Time& time = now(rank);
        if (Location* location = trace_.location(rank))
            location->begin(time);
        time += before_init;
    }
    all_to_all(FunctionId::MPI_Init, world_, 0);
}

void Program::finish()
{
    for (int rank = 0; rank < ranks(); ++rank) {
        const Time at = now(rank) + Machine::gap;
        end_ = std::max(end_, at);
        if (Location* location = trace_.location(rank))
            location->end(at);
    }
}

std::vector<Communicator> Program::split(const std::vector<std::vector<std::int32_t>>& groups)
{
    std::vector<Communicator> result;
    std::vector<OTF2_CommRef> of_rank(now_.size());
    for (const std::vector<std::int32_t>& group : groups) {
        result.push_back({vocabulary_.add_communicator(group), group});
        for (const std::int32_t rank : group)
            of_rank[static_cast<std::size_t>(rank)] = result.back().id;
    }
    ++collectives_;
    const Time last = last_arrival(world_) + Machine::gap;
    const Time cost = Machine::collective(8, world_.ranks.size());
    const otf2::CollectiveEnd end = operation(FunctionId::MPI_Comm_split, world_.id, 0, 0);
    for (const std::int32_t rank : world_.ranks) {
        Time& time = now(rank);
        const Time left = last + cost + skew(rank);
        if (Location* location = trace_.location(rank))
            location->split(time + Machine::gap, left, end, of_rank[static_cast<std::size_t>(rank)]);
        time = left;
    }
    return result;
}

void Program::all_to_all(FunctionId function, const Communicator& comm, std::uint64_t bytes)
{
    ++collectives_;
    const Time released = last_arrival(comm) + Machine::gap + Machine::collective(bytes, comm.ranks.size());
    const otf2::CollectiveEnd end = operation(function, comm.id, bytes, bytes);
    for (const std::int32_t rank : comm.ranks)
        leave(function, rank, released + skew(rank), end);
}

void Program::one_to_all(FunctionId function, const Communicator& comm, std::uint64_t bytes, std::size_t root)
{
    ++collectives_;
    const Time sent = now(comm.ranks[root]) + Machine::gap;
    const Time released = sent + Machine::collective(bytes, comm.ranks.size());
    for (std::size_t i = 0; i < comm.ranks.size(); ++i) {
        const std::int32_t rank = comm.ranks[i];
        const Time local = now(rank) + Machine::gap + Machine::complete;
        const bool is_root = i == root;
        leave(function, rank, is_root ? local : std::max(local, released + skew(rank)),
              operation(function, comm.id, is_root ? bytes : 0, is_root ? 0 : bytes, static_cast<std::uint32_t>(root)));
    }
}

void Program::all_to_one(FunctionId function, const Communicator& comm, std::uint64_t bytes, std::size_t root)
{
    ++collectives_;
    const Time last = last_arrival(comm) + Machine::gap;
    const Time released = last + Machine::collective(bytes, comm.ranks.size());
    for (std::size_t i = 0; i < comm.ranks.size(); ++i) {
        const std::int32_t rank = comm.ranks[i];
        const Time local = now(rank) + Machine::gap + Machine::complete;
        const bool is_root = i == root;
        leave(function, rank, is_root ? released + skew(rank) : local,
              operation(function, comm.id, bytes, is_root ? bytes : 0, static_cast<std::uint32_t>(root)));
    }
}

Time Program::last_arrival(const Communicator& comm) const
{
    Time last = 0;
    for (const std::int32_t rank : comm.ranks)
        last = std::max(last, now_[static_cast<std::size_t>(rank)]);
    return last;
}

/// A call of a collective operation of which `rank` comes back at `at`.
void Program::leave(FunctionId function, int rank, Time at, const otf2::CollectiveEnd& end)
{
    Time& time = now(rank);
    if (Location* location = trace_.location(rank))
        location->collective(function, time + Machine::gap, at, end);
    time = at;
}

}  // namespace critpath::bench

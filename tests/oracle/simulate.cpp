// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/simulate.hpp"

#include "tests/oracle/simulation/collectives.hpp"
#include "tests/oracle/simulation/completions.hpp"
#include "tests/oracle/simulation/messages.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <random>
#include <stdexcept>

namespace critpath::oracle
{

namespace
{

class Simulation
{
public:
    Simulation(const Program& program, const Machine& machine)
        : program_(program), world_(program, machine, [this](int rank) { step(rank); }), messages_(world_),
          completions_(world_), collectives_(world_), next_(program.steps.size())
    {
    }

    Execution run()
    {
        world_.scheduler.run();
        for (int r = 0; r < program_.threads(); ++r)
            if (next_[at(r)] < program_.steps[at(r)].size() || world_.scheduler.waits(r))
                throw std::logic_error(fmt::format("rank {} waits for ever in {}, step {}", r,
                                                   functions::info(world_.scheduler.calls(r).back().function).name,
                                                   next_[at(r)]));
        Execution execution = world_.scheduler.finish();
        for (int rank = 0; rank < program_.ranks; ++rank)
            for (int thread = 0; thread < program_.threads(); ++thread)
                if (program_.rank_of(thread) == rank)
                    execution.locations.push_back(thread);
        return execution;
    }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    void step(int rank)
    {
        std::size_t& next = next_[at(rank)];
        if (next == program_.steps[at(rank)].size())
            return;
        const Step& step = program_.steps[at(rank)][next++];
        switch (step.kind) {
        case Kind::Compute:
            return world_.scheduler.wake(rank, world_.scheduler.now() + step.ticks);
        case Kind::Send:
            return messages_.send(rank, step);
        case Kind::Recv:
            return messages_.receive(rank, step);
        case Kind::Sendrecv:
            return messages_.sendrecv(rank, step);
        case Kind::Isend:
        case Kind::Irecv:
            return messages_.post(rank, step);
        case Kind::Startall:
            return messages_.start_all(rank, step);
        case Kind::Probe:
        case Kind::Mprobe:
            return messages_.probe(rank, step);
        case Kind::ProbeLoop:
            return messages_.probe_loop(rank, step);
        case Kind::Mrecv:
        case Kind::Imrecv:
            return messages_.receive_probed(rank, step);
        case Kind::Detach:
            return messages_.detach(rank, step);
        case Kind::Cancel:
            return messages_.cancel(rank, step);
        case Kind::Waitall:
            return completions_.wait_for_all(rank, step);
        case Kind::Waitany:
        case Kind::Waitsome:
            return completions_.wait_for_one(rank, step);
        case Kind::PollLoop:
            return completions_.poll(rank, step);
        case Kind::Collective:
            return collectives_.collective(rank, step);
        case Kind::Icollective:
            return collectives_.icollective(rank, step);
        case Kind::Local:
            return world_.scheduler.leave(world_.scheduler.enter(rank, step.function),
                                          world_.machine.call + step.ticks);
        case Kind::Fork: {
            const int last = static_cast<int>(world_.scheduler.calls(rank).size()) - 1;
            world_.scheduler.fork({rank, last, true}, step.thread);
            return world_.scheduler.wake(rank, world_.scheduler.now());
        }
        case Kind::Tool:
            return world_.scheduler.work_in_tool(rank, step.ticks);
        }
    }

    const Program& program_;
    World world_;
    Messages messages_;
    Completions completions_;
    Collectives collectives_;
    std::vector<std::size_t> next_;  // step, by rank
};

}  // namespace

Machine random_machine(std::uint32_t seed)
{
    std::mt19937 random(seed);
    const auto one_of = [&](std::initializer_list<int> all) { return all.begin()[random() % all.size()]; };
    Machine machine;
    machine.call = one_of({1, 2, 4});
    machine.latency = one_of({5, 20, 40});
    machine.far_latency = machine.latency * one_of({1, 3});
    machine.bytes_a_tick = static_cast<std::uint64_t>(one_of({300, 1000, 10'000}));
    machine.eager_limit = static_cast<std::uint64_t>(one_of({1024, 4096, 65'536}));
    machine.collective = one_of({8, 12, 24});  // what is much longer than a call counts as waiting
    machine.jitter = one_of({0, 2, 10, 30});
    machine.skew = one_of({0, 2, 10});
    machine.ranks_a_node = one_of({1, 2, 3, 1 << 20});
    machine.seed = static_cast<std::uint32_t>(random());
    return machine;
}

Execution simulate(const Program& program, const Machine& machine)
{
    return Simulation(program, machine).run();
}

std::string text(const Execution& execution)
{
    std::string words;
    const auto describe = [&](const char* what, const Message& m) {
        words += fmt::format(" {} {}{}, tag {}, {} bytes", what, m.receiving ? "from " : "to ", m.peer, m.tag, m.bytes);
    };
    for (int r = 0; r < execution.graph.ranks(); ++r)
        for (std::size_t i = 0; i < execution.calls[static_cast<std::size_t>(r)].size(); ++i) {
            const Call& call = execution.calls[static_cast<std::size_t>(r)][i];
            const Times& times = execution.graph.calls(r)[i];
            words += fmt::format("    rank {} {:5}-{:<5} {}:", r, times.enter, times.leave,
                                 functions::info(call.function).name);
            for (const Message& message : call.posted)
                describe("posts", message);
            for (const Message& message : call.completed)
                describe(message.cancelled ? "cancelled" : "completes", message);
            if (call.has_probed)
                describe("has found", call.probed);
            const std::int64_t slack = execution.graph.slack(Node{r, static_cast<int>(i), true});
            words += slack < Graph::never / 2 ? fmt::format(" (slack {})\n", slack) : "\n";
        }
    return words;
}

}  // namespace critpath::oracle

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "tests/oracle/simulate.hpp"

#include "tests/oracle/simulation/collectives.hpp"
#include "tests/oracle/simulation/completions.hpp"
#include "tests/oracle/simulation/messages.hpp"

#include <fmt/format.h>

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
        for (int r = 0; r < program_.ranks; ++r)
            if (next_[at(r)] < program_.steps[at(r)].size() || world_.scheduler.waits(r))
                throw std::logic_error(fmt::format("rank {} waits for ever in {}, step {}", r,
                                                   functions::info(world_.scheduler.calls(r).back().function).name,
                                                   next_[at(r)]));
        return world_.scheduler.finish();
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
        case Kind::Probe:
        case Kind::Mprobe:
            return messages_.probe(rank, step);
        case Kind::Mrecv:
            return messages_.receive_probed(rank, step);
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
            words += fmt::format(" (slack {})\n", execution.graph.slack(Node{r, static_cast<int>(i), true}));
        }
    return words;
}

}  // namespace critpath::oracle

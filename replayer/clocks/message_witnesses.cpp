// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/witnesses.hpp"
#include "replayer/pair/lookup.hpp"

namespace critpath::replayer::clocks
{

namespace
{

/// `there` was not after the end of the call `here`.
void hear(const Replay& replay, const rules::Enter& there, const model::ProcessTrace& trace, CallRef here,
          Evidence& evidence)
{
    const auto clock_of = [&](ProcessId process) { return replay.definitions.processes[process.value].clock_domain; };
    const NodeId other = clock_of(replay.definitions.locations[there.call.location.value].process);
    const NodeId own = clock_of(trace.process);
    if (other != own && here.valid())
        evidence.add({other, there.time}, {own, leave_of(trace, here)});
}

}  // namespace

void hear_messages(const Replay& replay, const Pairs& pairs, Evidence& evidence)
{
    for (std::size_t p = 0; p < replay.processes.size(); ++p) {
        const model::ProcessTrace& trace = replay.processes[p];
        const auto completion = [&](const model::MessageTable& table, std::size_t i) {
            return trace.numbers.ref(table.completion(i));
        };
        for (std::size_t i = 0; i < trace.receives.size(); ++i)
            if (pairs.processes[p].of_receive.has(i))
                hear(replay, pairs.processes[p].of_receive[i].post, trace, completion(trace.receives, i), evidence);
        for (const MatchedReceive& receive : pairs.processes[p].of_send)
            if (trace.sends.mode(receive.send) == functions::SendMode::Synchronous)
                hear(replay, receive.post, trace, completion(trace.sends, receive.send), evidence);
    }
}

}  // namespace critpath::replayer::clocks

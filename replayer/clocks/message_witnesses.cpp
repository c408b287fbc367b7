// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/witnesses.hpp"
#include "replayer/pair/matcher.hpp"

namespace critpath::replayer::clocks
{

namespace
{

using functions::SendMode;

NodeId clock_of(const Replay& replay, ProcessId process)
{
    return replay.definitions.processes[process.value].clock_domain;
}

/// Messages that do not leave a clock prove nothing: they are not even matched.
MessageEnds ends_between_clocks(const Replay& replay)
{
    MessageEnds ends;
    for (const model::ProcessTrace& trace : replay.processes) {
        const auto is_elsewhere = [&replay, own = clock_of(replay, trace.process)](ProcessId peer) {
            return clock_of(replay, peer) != own;
        };
        const auto proves_receive = [&sends = trace.sends](std::size_t i) {
            return sends.mode(i) == SendMode::Synchronous && sends.completion(i) != model::CallNumbers::none;
        };
        ends.sends.emplace_back(replay, trace, proves_receive, is_elsewhere);
        ends.receives.emplace_back(replay.definitions, trace, is_elsewhere);
    }
    return ends;
}

}  // namespace

void hear_messages(const Replay& replay, Evidence& evidence)
{
    MessageEnds ends = ends_between_clocks(replay);
    // `there`, in another process, was not after the end of the call `here`.
    const auto hear = [&](std::uint32_t process, std::int64_t there, const model::ProcessTrace& trace, CallRef here) {
        if (here.valid())
            evidence.add({clock_of(replay, {process}), Ns{there}},
                         {clock_of(replay, trace.process), leave_of(trace, here)});
    };
    const auto receive = [&](const SendRecord& send, const model::ProcessTrace& trace, std::size_t,
                             std::uint32_t index) {
        hear(send.source(replay.definitions).value, send.enter, trace,
             trace.numbers.ref(trace.receives.completion(index)));
        // A matched probe may be what lets the sender go on.
        return ReceiveTimes{send.wants_reply != 0 ? place_of(trace, index) : rules::Enter{}};
    };
    const auto reply = [&](const ReplyRecord& record) {
        const model::ProcessTrace& trace = replay.trace_of(ProcessId{record.source});
        hear(record.dest, record.enter, trace, trace.numbers.ref(trace.sends.completion(record.index)));
    };
    Matcher(replay, ends, receive, reply).run();
}

}  // namespace critpath::replayer::clocks

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/literal/messages.hpp"

#include "replayer/literal/answers.hpp"
#include "replayer/literal/literal.hpp"
#include "replayer/literal/process_replay.hpp"
#include "replayer/literal/standstill.hpp"
#include "replayer/pair/conclude.hpp"

#include <algorithm>
#include <utility>

namespace critpath::replayer::literal
{

namespace
{

/// Goes on with whichever process can go on, until all processes of the replay are at their end. Returns how often
/// they stood still.
std::uint64_t run(std::vector<ProcessReplay>& processes, Outbox<SendRecord>& outbox, Standstill& standstill)
{
    std::uint64_t standstills = 0;
    std::uint64_t before = 0;
    for (;;) {
        std::uint64_t progress = 0;
        bool at_end = true;
        for (ProcessReplay& process : processes) {
            process.advance();
            progress += process.progress();
            at_end = at_end && process.at_end();
        }
        if (std::exchange(before, progress) != progress && !at_end)
            continue;
        outbox.look();
        switch (standstill.ask(at_end, progress)) {
        case Standstill::Verdict::Wait:
            break;
        case Standstill::Verdict::GiveWay:
            ++standstills;
            for (ProcessReplay& process : processes)
                process.give_way();
            break;
        case Standstill::Verdict::End:
            return standstills;
        }
    }
}

}  // namespace

Messages replay_messages(const Replay& replay, const rules::Calibration& calibration, const Limits& limits)
{
    Messages result;
    result.pairs.resize(replay.processes.size());
    Lanes lanes = agree_on_lanes(replay, limits.tags);
    Outbox<SendRecord> outbox(replay.size, limits.window);
    Traffic traffic{replay, lanes, outbox, limits.receives, {}};
    traffic.answers.wanted.resize(static_cast<std::size_t>(replay.size));
    std::vector<ProcessReplay> processes;
    processes.reserve(replay.processes.size());
    for (std::size_t p = 0; p < replay.processes.size(); ++p)
        processes.emplace_back(traffic, p, calibration, result.pairs[p]);

    Standstill standstill(lanes.comms.front(), limits.patience);
    result.standstills = run(processes, outbox, standstill);
    outbox.finish();
    for (const ProcessReplay& process : processes)
        result.most_receives_posted = std::max(result.most_receives_posted, process.most_receives_posted());
    result.unmatched_sends = traffic.unmatched_sends;
    bring_back(replay, lanes.comms.front(), limits.window, traffic.answers, result.pairs);
    lanes.close();
    return result;
}

Pairs pair(const Replay& replay, rules::Calibration& calibration)
{
    Messages messages = replay_messages(replay, calibration);
    return conclude(replay, std::move(messages.pairs), messages.unmatched_sends, calibration);
}

}  // namespace critpath::replayer::literal

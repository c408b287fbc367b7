// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/pair.hpp"

#include "replayer/pair/conclude.hpp"
#include "replayer/pair/matcher.hpp"

#include <algorithm>
#include <utility>

namespace critpath::replayer
{

Pairs pair(const Replay& replay, rules::Calibration& calibration)
{
    std::vector<ProcessPairs> pairs;
    MessageEnds ends;
    for (const model::ProcessTrace& trace : replay.processes) {
        pairs.push_back({MatchedSends(trace.receives.size()), {}});
        ends.sends.emplace_back(replay, trace, if_it_may_wait(replay, trace, calibration.calls));
        ends.receives.emplace_back(replay.definitions, trace);
    }
    const auto receive = [&](const SendRecord& send, const model::ProcessTrace& trace, std::size_t p,
                             std::uint32_t index) {
        const ReceiveTimes times = times_of_receive(trace, index);
        pairs[p].of_receive.set(index, matched_send(replay, calibration.clocks, send, times));
        return times;
    };
    const auto reply = [&](const ReplyRecord& record) {
        pairs[replay.index_of({record.source})].of_send.push_back(matched_receive(replay, record));
    };
    const std::uint64_t unmatched = Matcher(replay, ends, receive, reply).run();
    for (ProcessPairs& process : pairs)
        std::ranges::sort(process.of_send, {}, &MatchedReceive::send);
    return conclude(replay, std::move(pairs), unmatched, calibration);
}

}  // namespace critpath::replayer

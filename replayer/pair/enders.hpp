// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which message ended a call that completed several.
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/pair/by_call.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/pair/pair.hpp"
#include "replayer/pair/send_ends.hpp"
#include "replayer/rules/calibration.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace critpath::replayer
{

/// The calls of a process that completed a collective which does not block, ascending by number.
inline std::vector<std::uint32_t> completions_of_collectives(const model::ProcessTrace& trace)
{
    std::vector<std::uint32_t> calls;
    for (std::size_t i = 0; i < trace.collectives.size(); ++i)
        if (const model::CollectiveCall c = trace.collectives[i]; !c.is_blocking() && c.call.valid())
            calls.push_back(trace.numbers.of(c.call));
    std::ranges::sort(calls);
    return calls;
}

/// Whether a message of an owned process ended the call that completed it, so that this waited for it and for nothing
/// else: of several, the one that began last, if it is none of the smaller ones, nor one of the nearer ones. That is
/// all that can be known before anything is. A send may be held until its receiver's process takes it, so that of a
/// call that completed such, too, nothing is known if the message was on its way before; unless the sends are none of
/// the larger ones, and all their receivers waited for them before.
class Enders
{
public:
    Enders(const Replay& replay, const model::ProcessTrace& trace, const ProcessPairs& pairs,
           const rules::Calibration& known)
        : trace_(trace), pairs_(pairs), known_(known), send_ends_(replay.definitions, trace),
          sends_(pairs.of_send.size(), [this](std::uint32_t i) { return completion_of_send(i); }),
          collectives_(completions_of_collectives(trace))
    {
    }

    /// Calls `visit(receive, start, whether that is so, whether the call received nothing else)` for each message that
    /// a call completed. `start_of(receive)`: when its transfer began.
    template <class StartOf, class Visit>
    void for_each(StartOf start_of, Visit visit)
    {
        const auto completion = [&](std::uint32_t i) {
            return pairs_.of_receive.has(i) ? trace_.receives.completion(i) : no_call;
        };
        struct Started {
            std::uint32_t receive;
            model::Ns start;
            rules::Link link;
            std::uint64_t bytes;
        };
        std::vector<Started> of_call;
        for (ByCall receives(trace_.receives.size(), completion); !receives.at_end();) {
            const std::uint32_t call = completion(receives.next());
            of_call.clear();
            for (; !receives.at_end() && completion(receives.next()) == call; receives.advance())
                of_call.push_back({receives.next(), start_of(receives.next()), pairs_.of_receive[receives.next()].link,
                                   trace_.receives.bytes(receives.next())});
            const model::Ns last = std::ranges::max_element(of_call, {}, &Started::start)->start;
            const rules::Link farthest = std::ranges::max_element(of_call, {}, &Started::link)->link;
            const std::uint64_t largest = std::ranges::max_element(of_call, {}, &Started::bytes)->bytes;
            const bool is_known =
                !std::ranges::binary_search(collectives_, call) && !sends_longer(call, {last, farthest, largest});
            if (of_call.size() == 1) {
                visit(of_call.front().receive, last, is_known, true);
                continue;
            }
            const auto is_ender = [&](const Started& message) {
                return message.start == last && message.link == farthest && message.bytes == largest;
            };
            for (const Started& message : of_call)
                visit(message.receive, message.start, is_known && is_ender(message), false);
        }
    }

private:
    [[nodiscard]] std::uint32_t completion_of_send(std::uint32_t i) const
    {
        return send_ends_.number(pairs_.of_send[i].send);
    }

    /// What a call received: when the last of it began, over which link, and how much.
    struct Received {
        model::Ns begin;
        rules::Link farthest;
        std::uint64_t largest;
    };

    /// Whether the call may have waited for a send longer than for what it received: one that may have met its
    /// receiver later, or may have been held while the call waited. Calls must come in their order.
    bool sends_longer(std::uint32_t call, const Received& received)
    {
        const model::CallRef ref = trace_.numbers.ref(call);
        const bool began_before = received.begin < enter_of(trace_, ref).time;
        bool result = false;
        for (; !sends_.at_end() && completion_of_send(sends_.next()) <= call; sends_.advance()) {
            const MatchedReceive& met = pairs_.of_send[sends_.next()];
            const bool is_of_call = completion_of_send(sends_.next()) == call;
            result =
                result ||
                (is_of_call && (met.post.time > received.begin || (began_before && may_end_later(met, ref, received))));
        }
        return result;
    }

    [[nodiscard]] bool may_end_later(const MatchedReceive& met, model::CallRef call, const Received& received) const
    {
        const model::Send send = trace_.sends[met.send];
        if (send.mode != functions::SendMode::Standard && send.mode != functions::SendMode::Synchronous)
            return false;
        if (send.bytes > received.largest || met.link > received.farthest)
            return true;
        const auto limit = known_.eager_limit[static_cast<std::size_t>(met.link)];
        const bool is_eager =
            send.mode == functions::SendMode::Standard && static_cast<std::int64_t>(send.bytes) <= limit;
        // One that is no smaller than any library buffers begins when both sides are there.
        if (!is_eager)
            return send.bytes < rules::large_message || enter_of(trace_, send.post).time > received.begin;
        const model::Ns error = known_.clocks.between(call.location, met.post.call.location);
        return met.called() >= enter_of(trace_, call).time - error;
    }

    const model::ProcessTrace& trace_;
    const ProcessPairs& pairs_;
    const rules::Calibration& known_;
    SendEnds send_ends_;
    ByCall sends_;
    std::vector<std::uint32_t> collectives_;  // calls that completed such, too
};

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/learn_transfers.hpp"

#include "replayer/pair/call_costs.hpp"
#include "replayer/pair/enders.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/pair/transfer_times.hpp"
#include "replayer/pair/waited_messages.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace critpath::replayer
{

namespace
{

using rules::Protocol;

/// Of the messages that one process received.
class Lessons
{
public:
    Lessons(const Replay& replay, const model::ProcessTrace& trace, const ProcessPairs& pairs,
            const rules::Calibration& known, ExamplesByLink& examples)
        : replay_(replay), trace_(trace), pairs_(pairs), known_(known), examples_(examples)
    {
        const auto start_of = [this](std::uint32_t receive) { return start(receive); };
        Enders(replay, trace, pairs, known)
            .for_each(start_of, [this](std::uint32_t receive, Ns start, bool is_ender, bool is_alone) {
                learn(receive, start, is_ender, is_alone);
            });
    }

    [[nodiscard]] std::vector<WaitedMessage> waited() { return waited_.examples(); }

private:
    [[nodiscard]] bool meets(std::uint32_t receive) const
    {
        const MatchedSend send = pairs_.of_receive[receive];
        const std::int64_t eager_limit = known_.eager_limit[static_cast<std::size_t>(send.link)];
        return rules::protocol(send.mode, trace_.receives.bytes(receive), send.over_before, eager_limit) ==
               Protocol::Rendezvous;
    }

    [[nodiscard]] Ns start(std::uint32_t receive) const
    {
        const Ns sent = pairs_.of_receive[receive].post.time;
        return meets(receive) ? std::max(sent, enter_of(trace_, post(receive)).time) : sent;
    }

    [[nodiscard]] CallRef post(std::uint32_t receive) const
    {
        return trace_.numbers.ref(trace_.receives.post(receive));
    }

    /// When the process came back to MPI, as moved_since().
    [[nodiscard]] Ns back_since(std::uint32_t receive, Ns start, Ns end) const
    {
        return moved_since(replay_.definitions, trace_, post(receive), trace_.receives.bytes(receive), start, end);
    }

    /// Whether such calls end a like time after the last of what they complete began: no other one has stood still.
    [[nodiscard]] bool ends_by_arrival(CallRef completion) const
    {
        const model::Calls& calls = calls_of(trace_, completion.location);
        return known_.calls.have_all_waited(
            {function_of(replay_.definitions, trace_, completion), calls.size_bucket(completion.call.value)});
    }

    void learn(std::uint32_t receive, Ns start, bool is_ender, bool is_alone)
    {
        const CallRef completion = trace_.numbers.ref(trace_.receives.completion(receive));
        const Ns elapsed = leave_of(trace_, completion) - start;
        const MatchedSend send = pairs_.of_receive[receive];
        const std::uint64_t bytes = trace_.receives.bytes(receive);
        examples_[static_cast<std::size_t>(send.link)].add(elapsed, Ns{0}, bytes);
        if (!is_ender)
            return;
        const rules::Waiting call = waiting(replay_, trace_, known_.calls, completion);
        const bool is_waited_for = TransferExamples::is_evidence(elapsed, TransferExamples::waited_for(call, true));
        const bool may_stand_still = bytes >= rules::large_message && meets(receive);
        if (!is_waited_for && !may_stand_still)
            return;
        const Ns since = may_stand_still ? back_since(receive, start, call.leave) : start;
        WaitedMessage message{
            trace_.process, send.link, bytes,      send.post.call, start,
            call.leave,     since,     call.enter, is_waited_for,  is_alone || ends_by_arrival(completion)};
        if (message.has_moved() && (send.there_at_call || call.leave - since < rules::fastest_copy(bytes))) {
            if (message.is_plausible())
                waited_.add_there(message);
            message.since = start;
        }
        waited_.add(message);
    }

    const Replay& replay_;
    const model::ProcessTrace& trace_;
    const ProcessPairs& pairs_;
    const rules::Calibration& known_;
    ExamplesByLink& examples_;
    WaitedMessages waited_;
};

}  // namespace

std::array<rules::TransferTime, rules::links>
learn_transfers(const Replay& replay, const std::vector<ProcessPairs>& pairs, const rules::Calibration& known)
{
    ExamplesByLink examples;
    std::vector<WaitedMessage> waited;
    for (std::size_t p = 0; p < pairs.size(); ++p)
        std::ranges::copy(Lessons(replay, replay.processes[p], pairs[p], known, examples).waited(),
                          std::back_inserter(waited));
    add_waited(replay, waited, examples);
    std::array<rules::TransferTime, rules::links> result;
    for (std::size_t link = 0; link < rules::links; ++link)
        result[link] = examples[link].agree(replay.comm);
    return result;
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/conclude.hpp"

#include "replayer/pair/by_call.hpp"
#include "replayer/pair/call_costs.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/pair/send_ends.hpp"
#include "replayer/pair/transfer_times.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace critpath::replayer
{

namespace
{

using functions::SendMode;
using rules::Protocol;

/// Calls `visit(i, receive, its send, the post of the receive)` for all matched receives; `i` is the owned process,
/// `receive` its index there.
template <class Visit>
void for_each_message(const Replay& replay, const std::vector<ProcessPairs>& pairs, Visit visit)
{
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const model::ProcessTrace& trace = replay.processes[p];
        for (std::size_t i = 0; i < trace.receives.size(); ++i)
            if (pairs[p].of_receive.has(i))
                visit(trace, i, pairs[p].of_receive[i]);
    }
}

/// The largest standard send that was over before its receive was posted: proof that such sends are buffered. And the
/// largest one that was over while its receiver was outside of MPI: proof that they wait for nobody.
void learn_limits(const Replay& replay, const std::vector<ProcessPairs>& pairs, rules::Calibration& calibration)
{
    std::array<std::int64_t, 2 * rules::links> limits;
    limits.fill(rules::surely_eager);
    for_each_message(replay, pairs, [&](const model::ProcessTrace& trace, std::size_t i, const MatchedSend& send) {
        const auto bytes = static_cast<std::int64_t>(trace.receives.bytes(i));
        const auto link = static_cast<std::size_t>(send.link);
        if (send.mode == SendMode::Standard && send.surely_over)
            limits[link] = std::max(limits[link], bytes);
        if (send.unaided)
            limits[rules::links + link] = std::max(limits[rules::links + link], bytes);
    });
    MPI_Allreduce(MPI_IN_PLACE, limits.data(), 2 * rules::links, MPI_INT64_T, MPI_MAX, replay.comm);
    std::copy_n(limits.begin(), rules::links, calibration.eager_limit.begin());
    std::copy_n(limits.begin() + rules::links, rules::links, calibration.local_limit.begin());
}

/// Whether a message of an owned process ended the call that completed it, so that this waited for it and for nothing
/// else: of several, the one that began last, as far as can be known before anything is.
class Enders
{
public:
    Enders(const Replay& replay, const model::ProcessTrace& trace, const ProcessPairs& pairs)
        : trace_(trace), pairs_(pairs), send_ends_(replay.definitions, trace),
          sends_(pairs.of_send.size(), [this](std::uint32_t i) { return completion_of_send(i); })
    {
        for (std::size_t i = 0; i < trace.collectives.size(); ++i)
            if (const model::CollectiveCall c = trace.collectives[i]; !c.is_blocking() && c.call.valid())
                collectives_.push_back(trace.numbers.of(c.call));
        std::ranges::sort(collectives_);
    }

    /// Calls `visit(receive, start, whether that is so)` for each message that a call completed. `start_of(receive)`:
    /// when its transfer began.
    template <class StartOf, class Visit>
    void for_each(StartOf start_of, Visit visit)
    {
        const auto completion = [&](std::uint32_t i) {
            return pairs_.of_receive.has(i) ? trace_.receives.completion(i) : no_call;
        };
        struct Started {
            std::uint32_t receive;
            Ns start;
        };
        std::vector<Started> of_call;
        for (ByCall receives(trace_.receives.size(), completion); !receives.at_end();) {
            const std::uint32_t call = completion(receives.next());
            of_call.clear();
            for (; !receives.at_end() && completion(receives.next()) == call; receives.advance())
                of_call.push_back({receives.next(), start_of(receives.next())});
            const Ns last = std::ranges::max_element(of_call, {}, &Started::start)->start;
            const bool is_known = !std::ranges::binary_search(collectives_, call) && !meets_later(call, last);
            for (const Started& message : of_call)
                visit(message.receive, message.start, is_known && message.start == last);
        }
    }

private:
    [[nodiscard]] std::uint32_t completion_of_send(std::uint32_t i) const
    {
        return send_ends_.number(pairs_.of_send[i].send);
    }

    /// Whether the call completed a send that may have met its receiver later. Calls must come in their order.
    bool meets_later(std::uint32_t call, Ns begin)
    {
        bool result = false;
        for (; !sends_.at_end() && completion_of_send(sends_.next()) <= call; sends_.advance())
            result = result ||
                     (completion_of_send(sends_.next()) == call && pairs_.of_send[sends_.next()].post.time > begin);
        return result;
    }

    const model::ProcessTrace& trace_;
    const ProcessPairs& pairs_;
    SendEnds send_ends_;
    ByCall sends_;
    std::vector<std::uint32_t> collectives_;  // calls that completed such, too; ascending
};

void learn_transfer_times(const Replay& replay, const std::vector<ProcessPairs>& pairs, rules::Calibration& calibration,
                          Pairs& counts)
{
    std::array<TransferExamples, rules::links> examples;
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const model::ProcessTrace& trace = replay.processes[p];
        const auto start_of = [&](std::uint32_t i) {
            const MatchedSend send = pairs[p].of_receive[i];
            const Protocol protocol = rules::protocol(send.mode, trace.receives.bytes(i), send.over_before,
                                                      calibration.eager_limit[static_cast<std::size_t>(send.link)]);
            const Ns post = enter_of(trace, trace.numbers.ref(trace.receives.post(i))).time;
            return protocol == Protocol::Eager ? send.post.time : std::max(send.post.time, post);
        };
        Enders(replay, trace, pairs[p]).for_each(start_of, [&](std::uint32_t i, Ns start, bool is_ender) {
            rules::Waiting wait =
                waiting(replay, trace, calibration.calls, trace.numbers.ref(trace.receives.completion(i)));
            if (!is_ender)
                wait.threshold = Ns::max();  // no evidence
            examples[static_cast<std::size_t>(pairs[p].of_receive[i].link)].add(start, wait, trace.receives.bytes(i));
        });
    }
    for_each_message(replay, pairs, [&](const model::ProcessTrace& trace, std::size_t i, const MatchedSend& send) {
        const model::CallRef post = trace.numbers.ref(trace.receives.post(i));
        const Ns back = send.post.time - leave_of(trace, trace.numbers.ref(trace.receives.completion(i)));
        ++counts.messages;
        counts.clock_violations +=
            back > Ns{0} && back > calibration.clocks.between(send.post.call.location, post.location) ? 1 : 0;
    });
    for (std::size_t link = 0; link < rules::links; ++link)
        calibration.transfer[link] = examples[link].agree(replay.comm);
}

void add_counts(const Replay& replay, Pairs& pairs)
{
    for (const ProcessPairs& process : pairs.processes)
        for (std::size_t i = 0; i < process.of_receive.size(); ++i)
            pairs.unmatched_receives += process.of_receive.has(i) ? 0 : 1;
    std::uint64_t counts[4] = {pairs.messages, pairs.unmatched_sends, pairs.unmatched_receives, pairs.clock_violations};
    MPI_Allreduce(MPI_IN_PLACE, counts, 4, MPI_UINT64_T, MPI_SUM, replay.comm);
    pairs.messages = counts[0];
    pairs.unmatched_sends = counts[1];
    pairs.unmatched_receives = counts[2];
    pairs.clock_violations = counts[3];
}

}  // namespace

Pairs conclude(const Replay& replay, std::vector<ProcessPairs> processes, std::uint64_t unmatched_sends,
               rules::Calibration& calibration)
{
    Pairs result;
    result.processes = std::move(processes);
    result.unmatched_sends = unmatched_sends;
    learn_limits(replay, result.processes, calibration);
    learn_transfer_times(replay, result.processes, calibration, result);
    add_counts(replay, result);
    return result;
}

}  // namespace critpath::replayer

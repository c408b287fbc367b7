// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/pair.hpp"

#include "replayer/exchange.hpp"
#include "replayer/pair/call_costs.hpp"
#include "replayer/pair/channels.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <array>

namespace critpath::replayer
{

namespace
{

using functions::SendMode;
using rules::Protocol;

/// A send on its way to its receiver.
struct SendRecord {
    std::uint32_t comm, source, dest;  // source, dest: processes
    std::int32_t tag;
    std::uint32_t number;  // in its channel
    std::uint32_t index;   // into ProcessTrace::sends of the source
    std::uint32_t location, call;
    std::int64_t enter, leave;
    std::uint8_t mode, wants_reply;
    std::uint8_t padding[6];
};

/// The answer to a SendRecord that wants one.
struct ReplyRecord {
    std::uint32_t source, index;
    std::uint32_t dest;
    std::uint32_t location, call;
    std::uint32_t padding;
    std::int64_t enter;
};

rules::Link link_between(const model::Definitions& definitions, ProcessId a, ProcessId b)
{
    const bool same = a == b || definitions.processes[a.value].node == definitions.processes[b.value].node;
    return same ? rules::Link::SameNode : rules::Link::OtherNode;
}

/// The sends of one owned process, in windows.
class Sender
{
public:
    Sender(const Replay& replay, const model::ProcessTrace& trace, const rules::CallCosts& costs)
        : replay_(replay), trace_(trace), costs_(costs), bytes_(call_bytes(trace)),
          peers_(replay.definitions, trace.process), numbering_(trace, model::Skipped::What::Send)
    {
    }

    /// Adds the sends of window `round` to what goes out; returns how many of them have no receiver to go to.
    std::uint64_t emit(std::uint64_t round, std::vector<std::vector<SendRecord>>& out)
    {
        std::uint64_t lost = 0;
        const std::uint64_t end = std::min<std::uint64_t>((round + 1) * pair_window, trace_.sends.size());
        for (std::uint64_t i = round * pair_window; i < end; ++i) {
            const model::Send& send = trace_.sends[i];
            const auto dest = peers_.at(send.comm, send.dest);
            if (!dest) {
                ++lost;
                continue;
            }
            const rules::Enter post = enter_of(trace_, send.post);
            const std::uint32_t number = numbering_.next({send.comm, *dest, send.tag}, post.time, peers_);
            out[static_cast<std::size_t>(replay_.owner_of(*dest))].push_back(
                {send.comm.value,
                 trace_.process.value,
                 dest->value,
                 send.tag,
                 number,
                 static_cast<std::uint32_t>(i),
                 post.call.location.value,
                 post.call.call.value,
                 post.time.count(),
                 leave_of(trace_, send.completion).count(),
                 static_cast<std::uint8_t>(send.mode),
                 static_cast<std::uint8_t>(may_wait(send) ? 1 : 0),
                 {}});
        }
        return lost;
    }

private:
    /// Whether the completion of the send may turn out to have waited for the receiver.
    bool may_wait(const model::Send& send) const
    {
        if (!send.completion.valid() || (send.mode != SendMode::Standard && send.mode != SendMode::Synchronous))
            return false;
        const auto operation = rules::operation(function_of(replay_.definitions, trace_, send.completion));
        const auto dependence = operation.dependence;
        if (dependence != rules::Dependence::AllMessages && dependence != rules::Dependence::AnyMessage)
            return false;
        if (replay_.rules == Rules::Enter || operation.polls)
            return true;
        const std::uint64_t bytes = bytes_[local_index(trace_, send.completion.location)][send.completion.call.value];
        return waiting(replay_, trace_, costs_, send.completion, bytes).waited();
    }

    const Replay& replay_;
    const model::ProcessTrace& trace_;
    const rules::CallCosts& costs_;
    CallBytes bytes_;
    Peers peers_;
    Numbering numbering_;
};

/// The receives of all owned processes, waiting for their sends.
class Receivers
{
public:
    Receivers(const Replay& replay, std::vector<ProcessPairs>& pairs) : replay_(replay), pairs_(pairs)
    {
        for (std::size_t p = 0; p < replay.processes.size(); ++p) {
            pairs[p].of_receive.resize(replay.processes[p].receives.size());
            channels_.push_back(number_receives(replay.definitions, replay.processes[p]));
        }
    }

    /// Gives a send to its receive, and an answer if the sender wants one. False if there is no such receive.
    bool take(const SendRecord& send, std::vector<std::vector<ReplyRecord>>& replies)
    {
        const std::size_t p = send.dest - replay_.processes.front().process.value;
        const auto channel = channels_[p].find({{send.comm}, {send.source}, send.tag});
        if (channel == channels_[p].end())
            return false;
        const auto found = std::ranges::lower_bound(channel->second, send.number, {}, &NumberedReceive::number);
        if (found == channel->second.end() || found->number != send.number)
            return false;
        const std::uint32_t index = found->index;
        const model::ProcessTrace& trace = replay_.processes[p];
        const model::Receive& receive = trace.receives[index];
        pairs_[p].of_receive[index] = {{{{send.location}, {send.call}}, Ns{send.enter}},
                                       Ns{send.leave},
                                       static_cast<SendMode>(send.mode),
                                       link_between(replay_.definitions, {send.source}, {send.dest})};
        if (send.wants_reply != 0) {
            const rules::Enter post = enter_of(trace, receive.post);
            replies[static_cast<std::size_t>(replay_.owner_of(ProcessId{send.source}))].push_back(
                {send.source, send.index, send.dest, post.call.location.value, post.call.call.value, 0,
                 post.time.count()});
        }
        return true;
    }

private:
    const Replay& replay_;
    std::vector<ProcessPairs>& pairs_;
    std::vector<ReceivesByChannel> channels_;
};

/// One window of sends goes out, the answers come back. Returns how many sends found no receive here.
std::uint64_t exchange_window(const Replay& replay, const std::vector<std::vector<SendRecord>>& out,
                              Receivers& receivers, std::vector<ProcessPairs>& pairs)
{
    std::uint64_t unmatched = 0;
    std::vector<std::vector<ReplyRecord>> replies(static_cast<std::size_t>(replay.size));
    for (const SendRecord& send : replayer::exchange(replay.comm, out).items)
        unmatched += receivers.take(send, replies) ? 0 : 1;
    for (const ReplyRecord& reply : replayer::exchange(replay.comm, replies).items) {
        const std::size_t p = reply.source - replay.processes.front().process.value;
        pairs[p].of_send.push_back({reply.index,
                                    {{{reply.location}, {reply.call}}, Ns{reply.enter}},
                                    link_between(replay.definitions, {reply.source}, {reply.dest})});
    }
    return unmatched;
}

/// Calls `visit(receive, its send, the post of the receive, its leave)` for all matched receives.
template <class Visit>
void for_each_message(const Replay& replay, const std::vector<ProcessPairs>& pairs, Visit visit)
{
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const model::ProcessTrace& trace = replay.processes[p];
        for (std::size_t i = 0; i < trace.receives.size(); ++i) {
            const model::Receive& receive = trace.receives[i];
            const MatchedSend& send = pairs[p].of_receive[i];
            if (send.post.valid())
                visit(receive, send, enter_of(trace, receive.post).time, leave_of(trace, receive.completion));
        }
    }
}

/// The largest standard send that was over before its receive was posted: proof that such sends are buffered.
void learn_eager_limit(const Replay& replay, const std::vector<ProcessPairs>& pairs, rules::Calibration& calibration)
{
    auto& limit = calibration.eager_limit;
    for_each_message(replay, pairs, [&](const model::Receive& receive, const MatchedSend& send, Ns post, Ns) {
        auto& of_link = limit[static_cast<std::size_t>(send.link)];
        const Ns uncertainty = calibration.clocks.between(send.post.call.location, receive.post.location);
        if (send.mode == SendMode::Standard && send.leave < post && post - send.leave > uncertainty)
            of_link = std::max(of_link, static_cast<std::int64_t>(receive.bytes));
    });
    MPI_Allreduce(MPI_IN_PLACE, limit.data(), rules::links, MPI_INT64_T, MPI_MAX, replay.comm);
}

/// The time from start to completion bounds the transfer time from above for every message, also for one that lay
/// waiting; the least of them is the estimate.
void learn_transfer_times(const Replay& replay, const std::vector<ProcessPairs>& pairs, rules::Calibration& calibration)
{
    std::array<rules::FastestMessages, rules::links> fastest;
    for_each_message(replay, pairs, [&](const model::Receive& receive, const MatchedSend& send, Ns post, Ns leave) {
        const auto link = static_cast<std::size_t>(send.link);
        const Protocol protocol =
            rules::protocol(send.mode, receive.bytes, send.leave, post, calibration.eager_limit[link]);
        const Ns start = protocol == Protocol::Eager ? send.post.time : std::max(send.post.time, post);
        if (leave > start)
            fastest[link][static_cast<std::size_t>(rules::size_bucket(receive.bytes))].add((leave - start).count(),
                                                                                           receive.bytes);
    });
    for (std::size_t link = 0; link < rules::links; ++link) {
        std::array<std::int64_t, rules::size_buckets> least{};
        std::array<std::uint64_t, rules::size_buckets> bytes{};
        for (std::size_t b = 0; b < rules::size_buckets; ++b)
            least[b] = fastest[link][b].ns;
        MPI_Allreduce(MPI_IN_PLACE, least.data(), rules::size_buckets, MPI_INT64_T, MPI_MIN, replay.comm);
        // Of equally fast messages, the smallest. Not UINT64_MAX: MPICH 4.0 compares unsigned numbers as if they had a
        // sign.
        for (std::size_t b = 0; b < rules::size_buckets; ++b)
            bytes[b] = fastest[link][b].ns == least[b] ? fastest[link][b].bytes : std::uint64_t{INT64_MAX};
        MPI_Allreduce(MPI_IN_PLACE, bytes.data(), rules::size_buckets, MPI_UINT64_T, MPI_MIN, replay.comm);
        for (std::size_t b = 0; b < rules::size_buckets; ++b)
            fastest[link][b] = {least[b], bytes[b]};
        calibration.transfer[link] = rules::TransferTime(fastest[link]);
    }
}

void count(const Replay& replay, std::uint64_t unmatched_sends, const rules::ClockUncertainty& clocks, Pairs& pairs)
{
    std::uint64_t counts[4] = {0, unmatched_sends, 0, 0};
    for (std::size_t p = 0; p < pairs.processes.size(); ++p)
        for (const MatchedSend& send : pairs.processes[p].of_receive)
            ++counts[send.post.valid() ? 0 : 2];
    for_each_message(
        replay, pairs.processes, [&](const model::Receive& receive, const MatchedSend& send, Ns, Ns leave) {
            const Ns back = send.post.time - leave;
            counts[3] += back > Ns{0} && back > clocks.between(send.post.call.location, receive.post.location) ? 1 : 0;
        });
    MPI_Allreduce(MPI_IN_PLACE, counts, 4, MPI_UINT64_T, MPI_SUM, replay.comm);
    pairs.messages = counts[0];
    pairs.unmatched_sends = counts[1];
    pairs.unmatched_receives = counts[2];
    pairs.clock_violations = counts[3];
}

}  // namespace

Pairs pair(const Replay& replay, rules::Calibration& calibration)
{
    Pairs result;
    result.processes.resize(replay.processes.size());
    std::vector<Sender> senders;
    std::uint64_t longest = 0;
    for (const model::ProcessTrace& trace : replay.processes) {
        senders.emplace_back(replay, trace, calibration.calls);
        longest = std::max<std::uint64_t>(longest, trace.sends.size());
    }
    Receivers receivers(replay, result.processes);

    std::uint64_t unmatched = 0;
    const std::uint64_t rounds = exchange_rounds(replay.comm, longest, pair_window);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        std::vector<std::vector<SendRecord>> out(static_cast<std::size_t>(replay.size));
        for (Sender& sender : senders)
            unmatched += sender.emit(round, out);
        unmatched += exchange_window(replay, out, receivers, result.processes);
    }
    for (ProcessPairs& process : result.processes)
        std::ranges::sort(process.of_send, {}, &MatchedReceive::send);

    learn_eager_limit(replay, result.processes, calibration);
    learn_transfer_times(replay, result.processes, calibration);
    count(replay, unmatched, calibration.clocks, result);
    return result;
}

}  // namespace critpath::replayer

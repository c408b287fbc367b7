// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/records.hpp"

#include "replayer/order.hpp"
#include "replayer/pair/call_costs.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace critpath::replayer
{

using functions::FunctionId;
using functions::SendMode;

namespace
{

/// Whether the call that completed a message may turn out to have waited for it once it is known what such ones take.
bool is_much(std::uint64_t bytes, SendMode mode, Ns duration, FunctionId function)
{
    constexpr Ns moment = std::chrono::microseconds{1};
    const bool may_meet = mode == SendMode::Synchronous || bytes > static_cast<std::uint64_t>(rules::surely_eager);
    return (bytes >= rules::large_message && duration > 4 * rules::fastest_copy(bytes)) ||
           (may_meet && duration > moment && rules::receives_one_message(function));
}

}  // namespace

WantsReply if_it_may_wait(const Replay& replay, const model::ProcessTrace& trace, const rules::CallCosts& costs)
{
    return [&, ends = SendEnds(replay.definitions, trace)](std::size_t send) {
        const CallRef completion = trace.numbers.ref(ends.number(send));
        if (!completion.valid() || trace.sends.mode(send) == SendMode::None)
            return false;
        const FunctionId function = function_of(replay.definitions, trace, completion);
        const auto& operation = rules::operation(function);
        const auto dependence = operation.dependence;
        if (dependence != rules::Dependence::AllMessages && dependence != rules::Dependence::AnyMessage)
            return false;
        if (replay.rules == Rules::Enter || operation.polls)
            return true;
        const rules::Waiting call = waiting(replay, trace, costs, completion);
        return call.waited() ||
               is_much(trace.sends.bytes(send), trace.sends.mode(send), call.leave - call.enter, function) ||
               status_poll_before(replay.definitions, trace, completion).valid();
    };
}

SendRecords::SendRecords(const Replay& replay, const model::ProcessTrace& trace, WantsReply wants_reply,
                         const WantedPeer& is_wanted)
    : trace_(trace), wants_reply_(std::move(wants_reply)), ends_(replay.definitions, trace),
      peers_(replay.definitions, trace.process), numbering_(trace, model::Skipped::What::Send)
{
    const auto& envelopes = trace.sends.envelopes();
    channels_.reserve(envelopes.size());
    for (std::uint32_t e = 0; e < envelopes.size(); ++e) {
        const model::Envelope& envelope = envelopes[e];
        const auto dest = peers_.at(envelope.comm, envelope.peer);
        channels_.push_back({dest && (!is_wanted || is_wanted(*dest)) ? *dest : model::ProcessId::none(), 0});
    }
}

std::optional<SendRecord> SendRecords::next()
{
    const std::uint64_t i = next_++;
    const model::EnvelopeId envelope = trace_.sends.envelope(i);
    OutChannel& channel = channels_[envelope];
    if (!channel.dest.valid())
        return std::nullopt;
    const model::Sends& sends = trace_.sends;
    const rules::Enter post = enter_of(trace_, trace_.numbers.ref(sends.post(i)));
    const model::CallRef completion = trace_.numbers.ref(ends_.number(i));
    const auto& [comm, peer, tag] = sends.envelopes()[envelope];
    const std::uint32_t number =
        trace_.skipped.empty() ? channel.sent++ : numbering_.next({comm, channel.dest, tag}, post.time, peers_);
    return SendRecord{comm.value,
                      channel.dest.value,
                      tag,
                      number,
                      static_cast<std::uint32_t>(i),
                      post.call.location.value,
                      post.call.call.value,
                      static_cast<std::uint8_t>(sends.mode(i)),
                      static_cast<std::uint8_t>(wants_reply_(i) ? 1 : 0),
                      {},
                      post.time.count(),
                      leave_of(trace_, completion).count()};
}

namespace
{

/// Whether no thread of the process was in MPI at any time between `begin` and `end`, of which `near` is a later call.
bool is_outside(const model::ProcessTrace& trace, Ns begin, Ns end, CallRef near)
{
    for (const model::LocationTrace& location : trace.locations) {
        const model::Calls& calls = location.calls;
        const std::size_t entered = count_first(
            calls.size(), [&](std::size_t i) { return calls.enter(i) <= end; },
            location.location == near.location ? near.call.value : calls.size() / 2);
        if (entered > 0 && calls.leave(entered - 1) >= begin)
            return false;
    }
    return true;
}

}  // namespace

ReceiveTimes times_of_receive(const model::ProcessTrace& trace, std::size_t receive)
{
    return {enter_of(trace, trace.numbers.ref(trace.receives.post(receive))),
            time_of(trace, trace.numbers.ref(trace.receives.completion(receive)))};
}

MatchedSend matched_send(const Replay& replay, const rules::ClockUncertainty& clocks, const SendRecord& send,
                         const ReceiveTimes& receive)
{
    const rules::Enter& post = receive.post;
    const Ns leave{send.leave};
    const Ns uncertainty = clocks.between(LocationId{send.location}, post.call.location);
    const bool is_buffered = static_cast<SendMode>(send.mode) == SendMode::Buffered;
    const bool over_before = leave < post.time;
    const bool surely_over = over_before && post.time - leave > uncertainty;
    const bool unaided =
        surely_over && static_cast<SendMode>(send.mode) == SendMode::Standard &&
        is_outside(replay.trace_of(ProcessId{send.dest}), Ns{send.enter} - uncertainty, leave + uncertainty, post.call);
    return {{{{send.location}, {send.call}}, Ns{send.enter}},
            static_cast<SendMode>(send.mode),
            link_between(replay.definitions, send.source(replay.definitions), {send.dest}),
            over_before,
            surely_over,
            unaided,
            leave != Ns::max() && std::chrono::abs(post.time - leave) < uncertainty,
            (is_buffered ? Ns{send.enter} : leave) - uncertainty < receive.called};
}

ReplyRecord reply_to(const Replay& replay, const SendRecord& send, const ReceiveTimes& receive)
{
    const rules::Enter& post = receive.post;
    const Ns latest{MatchedReceive::latest_call};
    const Ns called_after =
        receive.called == Ns::max() ? latest : std::clamp(receive.called - post.time, Ns{0}, latest);
    return {send.source(replay.definitions).value,
            send.index,
            send.dest,
            post.call.location.value,
            post.call.call.value,
            static_cast<std::uint32_t>(called_after.count()),
            post.time.count()};
}

MatchedReceive matched_receive(const Replay& replay, const ReplyRecord& reply)
{
    MatchedReceive result{reply.index,
                          link_between(replay.definitions, {reply.source}, {reply.dest}),
                          0,
                          {{{reply.location}, {reply.call}}, Ns{reply.enter}}};
    result.called_after = reply.called_after & MatchedReceive::latest_call;  // fits anyway
    return result;
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/literal/process_replay.hpp"

#include "replayer/pair/lookup.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace critpath::replayer::literal
{

namespace
{

Ns leave_of_completion(const model::ProcessTrace& trace, std::uint32_t receive)
{
    return leave_of(trace, trace.numbers.ref(trace.receives.completion(receive)));
}

std::vector<std::uint32_t> order_of_completions(const model::ProcessTrace& trace)
{
    std::vector<std::uint32_t> order(trace.receives.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return leave_of_completion(trace, i); });
    return order;
}

}  // namespace

ProcessReplay::ProcessReplay(Traffic& traffic, std::size_t process, const rules::Calibration& calibration,
                             ProcessPairs& pairs)
    : traffic_(traffic), trace_(traffic.replay.processes[process]), outgoing_(traffic.lanes.outgoing[process]),
      incoming_(traffic.lanes.incoming[process]), clocks_(calibration.clocks), pairs_(pairs),
      peers_(traffic.replay.definitions, trace_.process),
      records_(traffic.replay, trace_, if_it_may_wait(traffic.replay, trace_, calibration.calls)),
      receives_(order_of_receives(trace_)), waits_(order_of_completions(trace_)), slot_of_(trace_.receives.size(), none)
{
    pairs.of_receive = MatchedSends(trace_.receives.size());
}

void ProcessReplay::advance()
{
    while (!is_posted()) {
        const bool waits = next_wait_ < waits_.size();
        // What was posted at the same time as something was completed may have been posted first.
        const Ns now = waits ? leave_of_completion(trace_, waits_[next_wait_]) : Ns::max();
        post_receives(now);
        if (!post_sends(now))
            return;
        if (!waits)
            break;
        for (; open() > traffic_.most_receives_open && waited_ <= next_wait_; ++waited_)
            if (!has_arrived(waits_[waited_]) && !pass_by())
                return;
        ++next_wait_;
        ++progress_;
    }
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
        if (slots_[slot].request != MPI_REQUEST_NULL)
            look(slot);
}

void ProcessReplay::post_receives(Ns until)
{
    for (; next_receive_ < trace_.receives.size(); ++next_receive_) {
        const auto receive = receives_.empty() ? static_cast<std::uint32_t>(next_receive_) : receives_[next_receive_];
        if (place_of(trace_, receive).time > until)
            return;
        ++progress_;
        const model::Envelope envelope = trace_.receives.envelopes()[trace_.receives.envelope(receive)];
        const auto source = peers_.at(envelope.comm, envelope.peer);
        const auto end = source ? incoming_.find({envelope.comm, *source, envelope.tag}) : incoming_.end();
        if (end == incoming_.end())
            continue;
        if (const auto message = end->second.next(receive))
            post(end->first, end->second, *message);
    }
}

void ProcessReplay::post(const Channel& channel, const Incoming& end, Incoming::Message message)
{
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    slot_of_[message.receive] = index;
    Slot& slot = slots_[index];
    slot.channel = &channel;
    slot.message = message;
    MPI_Irecv(&slot.record, sizeof slot.record, MPI_BYTE, end.process, end.lane.tag,
              traffic_.lanes.comms[end.lane.comm], &slot.request);
}

bool ProcessReplay::post_sends(Ns until)
{
    for (;;) {
        if (held_back_) {
            if (!post_send(*held_back_))
                return false;
            held_back_.reset();
            ++progress_;
        }
        const std::uint64_t next = records_.position();
        if (next == trace_.sends.size() || enter_of(trace_, trace_.numbers.ref(trace_.sends.post(next))).time > until)
            return true;
        const auto record = records_.next();
        if (record && outgoing_.find({{record->comm}, {record->dest}, record->tag})->second.next()) {
            held_back_ = record;
        } else {
            ++traffic_.unmatched_sends;
            ++progress_;
        }
    }
}

bool ProcessReplay::post_send(const SendRecord& record)
{
    const Outgoing& end = outgoing_.find({{record.comm}, {record.dest}, record.tag})->second;
    if (!traffic_.outbox.has_room(end.process) && !pass_by())
        return false;
    traffic_.outbox.send(record, end.process, end.lane.tag, traffic_.lanes.comms[end.lane.comm]);
    traffic_.answers.wanted[static_cast<std::size_t>(end.process)] += record.wants_reply;
    return true;
}

bool ProcessReplay::has_arrived(std::uint32_t receive)
{
    // Otherwise nobody sends to it, or it was not posted: clocks that go back. Then it is waited for at the end.
    return slot_of_[receive] == none || look(slot_of_[receive]);
}

bool ProcessReplay::look(std::uint32_t index)
{
    Slot& slot = slots_[index];
    int done = 0;
    MPI_Test(&slot.request, &done, MPI_STATUS_IGNORE);
    if (done == 0)
        return false;
    take(slot);
    slot_of_[slot.message.receive] = none;
    free_.push_back(index);
    ++progress_;
    return true;
}

void ProcessReplay::take(Slot& slot)
{
    const SendRecord& send = slot.record;
    const Channel& channel = *slot.channel;
    if (send.dest != trace_.process.value || send.source(traffic_.replay.definitions) != channel.peer ||
        send.comm != channel.comm.value || send.tag != channel.tag || send.number != slot.message.number)
        throw std::logic_error(fmt::format("receive {} of process {} got message {} of another channel or number",
                                           slot.message.receive, trace_.process.value, send.index));
    const ReceiveTimes times = times_of_receive(trace_, slot.message.receive);
    pairs_.of_receive.set(slot.message.receive, matched_send(traffic_.replay, clocks_, send, times));
    if (send.wants_reply != 0)
        traffic_.answers.outgoing.push_back(reply_to(traffic_.replay, send, times));
}

bool ProcessReplay::pass_by()
{
    if (passes_ == 0)
        return false;
    --passes_;
    return true;
}

void ProcessReplay::give_way()
{
    passes_ = next_passes_;
    next_passes_ *= 2;
}

}  // namespace critpath::replayer::literal

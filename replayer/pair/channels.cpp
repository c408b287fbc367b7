// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/channels.hpp"

#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace critpath::replayer
{

std::size_t ChannelHash::operator()(const Channel& channel) const noexcept
{
    std::uint64_t h = (std::uint64_t{channel.comm.value} << 32) | channel.peer.value;
    h = (h ^ (h >> 31)) * 0x9e3779b97f4a7c15ULL + static_cast<std::uint32_t>(channel.tag);
    h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9ULL;
    return static_cast<std::size_t>(h ^ (h >> 32));
}

const std::vector<model::ProcessId>* Peers::group(model::CommId comm)
{
    const auto [entry, is_new] = groups_.try_emplace(comm, nullptr);
    if (is_new) {
        const model::Communicator& c = definitions_.communicators[comm.value];
        const bool on_first_side = std::ranges::find(c.members, self_) != c.members.end();
        entry->second = c.is_inter && on_first_side ? &c.remote : &c.members;
    }
    return entry->second;
}

std::optional<model::ProcessId> Peers::at(model::CommId comm, std::int32_t rank)
{
    if (!comm.valid() || comm.value >= definitions_.communicators.size() || rank < 0)
        return std::nullopt;
    if (definitions_.communicators[comm.value].is_self)
        return rank == 0 ? std::optional(self_) : std::nullopt;
    const auto& members = *group(comm);
    if (static_cast<std::size_t>(rank) >= members.size())
        return std::nullopt;
    return members[static_cast<std::size_t>(rank)];
}

std::uint32_t Numbering::next(const Channel& channel, model::Ns post, Peers& peers)
{
    for (; passed_ < skipped_.size() && skipped_[passed_].time < post; ++passed_) {
        const model::Skipped& skipped = skipped_[passed_];
        if (skipped.what != what_)
            continue;
        if (const auto peer = peers.at(skipped.comm, skipped.peer))
            numbers_[{skipped.comm, *peer, skipped.tag}] += static_cast<std::uint32_t>(skipped.count);
    }
    return numbers_[channel]++;
}

rules::Enter place_of(const model::ProcessTrace& trace, std::uint32_t i)
{
    const CallRef matched = trace.receives.matched(i);
    return enter_of(trace, matched.valid() ? matched : trace.numbers.ref(trace.receives.post(i)));
}

std::vector<std::uint32_t> order_of_receives(const model::ProcessTrace& trace)
{
    if (!trace.receives.any_matched())
        return {};
    std::vector<std::uint32_t> order(trace.receives.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
        const rules::Enter enter = place_of(trace, i);
        return std::pair(enter.time, enter.call.location);
    });
    return order;
}

WaitingReceives::WaitingReceives(const model::Definitions& definitions, const model::ProcessTrace& trace,
                                 const WantedPeer& is_wanted)
    : next_(trace.receives.size(), none)
{
    const model::Receives& receives = trace.receives;
    Peers peers(definitions, trace.process);
    std::vector<std::optional<Channel>> channel_of;  // by envelope
    std::vector<std::uint32_t> queue_numbers;        // by envelope
    const std::size_t envelopes = receives.envelopes().size();
    channel_of.reserve(envelopes);
    queue_numbers.reserve(envelopes);
    queues_.reserve(envelopes);
    channels_.reserve(envelopes);
    for (std::uint32_t e = 0; e < envelopes; ++e) {
        const model::Envelope& envelope = receives.envelopes()[e];
        const auto source = peers.at(envelope.comm, envelope.peer);
        const bool is_used = source && (!is_wanted || is_wanted(*source));
        channel_of.push_back(is_used ? std::optional(Channel{envelope.comm, *source, envelope.tag}) : std::nullopt);
        queue_numbers.push_back(is_used ? queue_number(*channel_of.back()) : none);
    }
    const std::vector<std::uint32_t> order = order_of_receives(trace);
    const bool all_recorded = trace.skipped.empty();
    Numbering numbering(trace, model::Skipped::What::Receive);
    if (!all_recorded)
        numbers_.resize(receives.size());
    for (std::uint32_t n = 0; n < receives.size(); ++n) {
        const std::uint32_t i = order.empty() ? n : order[n];
        const std::uint32_t envelope = receives.envelope(i);
        if (queue_numbers[envelope] == none)
            continue;
        if (!all_recorded)
            numbers_[i] = numbering.next(*channel_of[envelope], place_of(trace, i).time, peers);
        Queue& queue = queues_[queue_numbers[envelope]];
        (queue.first == none ? queue.first : next_[queue.last]) = i;
        queue.last = i;
    }
}

std::uint32_t WaitingReceives::queue_number(const Channel& channel)
{
    const std::uint32_t number = channels_.add(channel);
    if (number == queues_.size())
        queues_.emplace_back();
    return number;
}

std::uint32_t WaitingReceives::take(const Channel& channel, std::uint32_t number)
{
    Queue& queue = queues_[queue_number(channel)];
    const auto pop = [&] {
        ++queue.number;
        return std::exchange(queue.first, next_[queue.first]);
    };
    while (queue.first != none && number_of(queue) < number)
        pop();  // its send was not recorded
    return queue.first != none && number_of(queue) == number ? pop() : none;
}

}  // namespace critpath::replayer

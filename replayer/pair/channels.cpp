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

ReceivesByChannel number_receives(const model::Definitions& definitions, const model::ProcessTrace& trace)
{
    // A matched probe takes its message out of the queue, so the receive has its place there and not at its post.
    std::vector<std::uint32_t> order(trace.receives.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto place = [&](std::uint32_t i) {
        const model::Receive& receive = trace.receives[i];
        const rules::Enter enter = enter_of(trace, receive.matched.valid() ? receive.matched : receive.post);
        return std::pair(enter.time, enter.call.location);
    };
    const bool any_matched =
        std::ranges::any_of(trace.receives, [](const model::Receive& r) { return r.matched.valid(); });
    if (any_matched)
        std::ranges::stable_sort(order, {}, place);

    Peers peers(definitions, trace.process);
    Numbering numbering(trace, model::Skipped::What::Receive);
    ReceivesByChannel channels;
    for (const std::uint32_t i : order) {
        const model::Receive& receive = trace.receives[i];
        if (const auto source = peers.at(receive.comm, receive.source)) {
            const Channel channel{receive.comm, *source, receive.tag};
            channels[channel].push_back({numbering.next(channel, place(i).first, peers), i});
        }
    }
    return channels;
}

}  // namespace critpath::replayer

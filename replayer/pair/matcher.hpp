// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how sends get to their receives: in bulk, in windows, to the process that holds the receive, and what a sender
// wants to know of it back. What is made of that is up to those who ask.
#pragma once

#include "replayer/exchange.hpp"
#include "replayer/pair/channels.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/pair/pair.hpp"
#include "replayer/pair/records.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace critpath::replayer
{

/// The two ends of the messages that are to be matched, by owned process.
struct MessageEnds {
    std::vector<SendRecords> sends;
    std::vector<WaitingReceives> receives;
};

/// `Receive`: ReceiveTimes (const SendRecord&, const model::ProcessTrace&, std::size_t process, std::uint32_t receive),
/// of a receive that got its message; returns its times, for the answer. `Reply`: void (const ReplyRecord&),
/// of a send that wanted one.
template <class Receive, class Reply>
class Matcher
{
public:
    /// References are kept.
    Matcher(const Replay& replay, MessageEnds& ends, Receive receive, Reply reply)
        : replay_(replay), ends_(ends), receive_(std::move(receive)), reply_(std::move(reply))
    {
    }

    /// Returns how many sends found no receive, of those that this process has to do with. Collective.
    std::uint64_t run()
    {
        std::uint64_t sends = 0;
        for (const model::ProcessTrace& trace : replay_.processes)
            sends += trace.sends.size();
        const std::uint64_t window = choose_window();
        const std::uint64_t rounds = exchange_rounds(replay_.comm, sends, window);
        if (const auto size = static_cast<std::uint64_t>(replay_.size); has_many_ && size < pair_window)
            for (std::vector<SendRecord>& records : out_)  // as many for each, and not twice as many
                records.reserve(std::min(sends, window) / size * 9 / 8);
        for (std::uint64_t round = 0; round < rounds; ++round)
            run_window(window);
        return unmatched_;
    }

private:
    /// Where receivers are taken one by one, several sends to each of them.
    [[nodiscard]] std::uint64_t choose_window() const
    {
        constexpr std::uint64_t several = 32;
        const std::uint64_t receivers = replay_.definitions.processes.size() / static_cast<std::uint64_t>(replay_.size);
        return has_many_ ? std::clamp(several * receivers, pair_window, 4 * pair_window) : pair_window;
    }

    /// One process after the other: what is known of its channels stays in the cache.
    void run_window(std::uint64_t window)
    {
        for (std::vector<SendRecord>& records : out_)
            records.clear();
        auto replies = lists_for<ReplyRecord>(replay_.size);
        for (std::uint64_t sends = 0; sends < window && current_ < ends_.sends.size();) {
            SendRecords& records = ends_.sends[current_];
            if (records.position() == replay_.processes[current_].sends.size()) {
                ++current_;
                continue;
            }
            ++sends;
            const auto send = records.next();
            const int owner = send ? replay_.owner_of(ProcessId{send->dest}) : -1;
            if (!send)
                ++unmatched_;
            else if (owner == replay_.rank && !has_many_)
                take(*send, replies);
            else
                out_[static_cast<std::size_t>(owner)].push_back(*send);
        }
        if (replay_.size == 1) {
            take_all({out_.front(), {}, {}}, replies);
            return;
        }
        // What stays here is not copied.
        std::vector<SendRecord> own = std::exchange(out_[static_cast<std::size_t>(replay_.rank)], {});
        const Received<SendRecord> arrived = replayer::exchange(replay_.comm, out_);
        const std::span<const SendRecord> others = arrived.items;
        const std::size_t before = arrived.begin[static_cast<std::size_t>(replay_.rank)];
        take_all({others.first(before), own, others.subspan(before)}, replies);
        out_[static_cast<std::size_t>(replay_.rank)] = std::move(own);  // it keeps its memory
        for (const ReplyRecord& reply : replayer::exchange(replay_.comm, replies).items)
            reply_(reply);
    }

    /// One receiver after the other, and what each gets in its order: what is known of many of them is not in the
    /// cache.
    void take_all(const std::array<std::span<const SendRecord>, 3>& parts,
                  std::vector<std::vector<ReplyRecord>>& replies)
    {
        if (!has_many_) {
            for (const std::span<const SendRecord> sends : parts)
                for (const SendRecord& send : sends)
                    take(send, replies);
            return;
        }
        std::vector<std::uint32_t> next(replay_.processes.size() + 1);  // by owned process: where its next one goes
        for (const std::span<const SendRecord> sends : parts)
            for (const SendRecord& send : sends)
                ++next[replay_.index_of({send.dest}) + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        order_.resize(next.back());
        for (const std::span<const SendRecord> sends : parts)
            for (const SendRecord& send : sends)
                order_[next[replay_.index_of({send.dest})]++] = &send;
        for (const SendRecord* send : order_)
            take(*send, replies);
    }

    void take(const SendRecord& send, std::vector<std::vector<ReplyRecord>>& replies)
    {
        const std::size_t p = replay_.index_of({send.dest});
        const ProcessId source = send.source(replay_.definitions);
        const std::uint32_t index = ends_.receives[p].take({{send.comm}, source, send.tag}, send.number);
        if (index == WaitingReceives::none) {
            ++unmatched_;
            return;
        }
        const ReceiveTimes times = receive_(send, replay_.processes[p], p, index);
        if (send.wants_reply == 0)
            return;
        const int owner = replay_.owner_of(source);
        if (owner == replay_.rank)
            reply_(reply_to(replay_, send, times));
        else
            replies[static_cast<std::size_t>(owner)].push_back(reply_to(replay_, send, times));
    }

    const Replay& replay_;
    MessageEnds& ends_;
    Receive receive_;
    Reply reply_;
    /// Of the processes of the trace, on each process of the replay.
    const bool has_many_ = replay_.definitions.processes.size() > 64 * static_cast<std::size_t>(replay_.size);
    std::vector<std::vector<SendRecord>> out_ = lists_for<SendRecord>(replay_.size);  // of one window
    std::vector<const SendRecord*> order_;                                            // likewise
    std::size_t current_ = 0;  // index into ends_.sends of the process whose sends are next
    std::uint64_t unmatched_ = 0;
};

}  // namespace critpath::replayer

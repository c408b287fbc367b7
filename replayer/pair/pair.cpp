// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/pair/pair.hpp"

#include "replayer/exchange.hpp"
#include "replayer/pair/channels.hpp"
#include "replayer/pair/conclude.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/pair/records.hpp"

#include <algorithm>
#include <utility>

namespace critpath::replayer
{

namespace
{

/// The receives of all owned processes, waiting for their sends.
class Receivers
{
public:
    Receivers(const Replay& replay, const rules::ClockUncertainty& clocks, std::vector<ProcessPairs>& pairs)
        : replay_(replay), clocks_(clocks), pairs_(pairs)
    {
        for (std::size_t p = 0; p < replay.processes.size(); ++p) {
            pairs[p].of_receive = MatchedSends(replay.processes[p].receives.size());
            waiting_.emplace_back(replay.definitions, replay.processes[p]);
        }
    }

    /// Gives a send to its receive; `answer(ReplyRecord)` if the sender wants to know. False if there is no such
    /// receive.
    template <class Answer>
    bool take(const SendRecord& send, Answer answer)
    {
        const std::size_t p = replay_.index_of({send.dest});
        const std::uint32_t index = waiting_[p].take({{send.comm}, {send.source}, send.tag}, send.number);
        if (index == WaitingReceives::none)
            return false;
        const model::ProcessTrace& trace = replay_.processes[p];
        const rules::Enter post = enter_of(trace, trace.numbers.ref(trace.receives.post(index)));
        pairs_[p].of_receive.set(index, matched_send(replay_, clocks_, send, post));
        if (send.wants_reply != 0)
            answer(reply_to(send, post));
        return true;
    }

private:
    const Replay& replay_;
    const rules::ClockUncertainty& clocks_;
    std::vector<ProcessPairs>& pairs_;
    std::vector<WaitingReceives> waiting_;
};

/// All sends in windows: those of one go out, the answers come back.
class Matcher
{
public:
    Matcher(const Replay& replay, const rules::Calibration& calibration, std::vector<ProcessPairs>& pairs)
        : replay_(replay), pairs_(pairs), receivers_(replay, calibration.clocks, pairs)
    {
        for (const model::ProcessTrace& trace : replay.processes)
            records_.emplace_back(replay, trace, calibration.calls);
    }

    /// Returns how many sends found no receive, of those that this process has to do with. Collective.
    std::uint64_t run()
    {
        std::uint64_t sends = 0;
        for (const model::ProcessTrace& trace : replay_.processes)
            sends += trace.sends.size();
        const std::uint64_t rounds = exchange_rounds(replay_.comm, sends, pair_window);
        for (std::uint64_t round = 0; round < rounds; ++round)
            run_window();
        for (ProcessPairs& process : pairs_)
            std::ranges::sort(process.of_send, {}, &MatchedReceive::send);
        return unmatched_;
    }

private:
    /// One process after the other: what is known of its channels stays in the cache.
    void run_window()
    {
        auto out = lists_for<SendRecord>(replay_.size);
        auto replies = lists_for<ReplyRecord>(replay_.size);
        const auto take = [&](const SendRecord& send) {
            const bool is_matched = receivers_.take(send, [&](const ReplyRecord& reply) {
                const int owner = replay_.owner_of(ProcessId{reply.source});
                if (owner == replay_.rank)
                    keep(reply);
                else
                    replies[static_cast<std::size_t>(owner)].push_back(reply);
            });
            unmatched_ += is_matched ? 0 : 1;
        };
        for (std::uint64_t sends = 0; sends < pair_window && current_ < records_.size();) {
            if (records_[current_].position() == replay_.processes[current_].sends.size()) {
                ++current_;
                continue;
            }
            ++sends;
            const auto send = records_[current_].next();
            const int owner = send ? replay_.owner_of(ProcessId{send->dest}) : -1;
            if (!send)
                ++unmatched_;
            else if (owner == replay_.rank)
                take(*send);
            else
                out[static_cast<std::size_t>(owner)].push_back(*send);
        }
        if (replay_.size == 1)
            return;
        for (const SendRecord& send : replayer::exchange(replay_.comm, out).items)
            take(send);
        for (const ReplyRecord& reply : replayer::exchange(replay_.comm, replies).items)
            keep(reply);
    }

    void keep(const ReplyRecord& reply)
    {
        const std::size_t p = replay_.index_of({reply.source});
        pairs_[p].of_send.push_back(matched_receive(replay_, reply));
    }

    const Replay& replay_;
    std::vector<ProcessPairs>& pairs_;
    Receivers receivers_;
    std::vector<SendRecords> records_;
    std::size_t current_ = 0;  // index into records_ of the process whose sends are next
    std::uint64_t unmatched_ = 0;
};

}  // namespace

Pairs pair(const Replay& replay, rules::Calibration& calibration)
{
    std::vector<ProcessPairs> pairs(replay.processes.size());
    const std::uint64_t unmatched = Matcher(replay, calibration, pairs).run();
    return conclude(replay, std::move(pairs), unmatched, calibration);
}

}  // namespace critpath::replayer

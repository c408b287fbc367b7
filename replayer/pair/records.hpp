// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the two ends of a message tell each other: a send describes itself to its receiver, and a send that may
// have waited for the receiver gets an answer. Every engine sends these.
#pragma once

#include "replayer/pair/channels.hpp"
#include "replayer/pair/pair.hpp"
#include "replayer/pair/send_ends.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace critpath::replayer
{

/// A send on its way to its receiver.
struct SendRecord {
    std::uint32_t comm;
    std::uint32_t dest;  // process
    std::int32_t tag;
    std::uint32_t number;          // in its channel
    std::uint32_t index;           // into ProcessTrace::sends of the source
    std::uint32_t location, call;  // of the post
    std::uint8_t mode, wants_reply;
    std::uint8_t padding[2];
    std::int64_t enter, leave;

    /// The process that sends.
    [[nodiscard]] model::ProcessId source(const model::Definitions& definitions) const
    {
        return definitions.locations[location].process;
    }
};
static_assert(sizeof(SendRecord) == 48, "a window has very many; and small enough for every MPI to send it eagerly");

/// The answer to a SendRecord that wants one.
struct ReplyRecord {
    std::uint32_t source, index;
    std::uint32_t dest;
    std::uint32_t location, call;
    std::uint32_t called_after;  // as in MatchedReceive
    std::int64_t enter;
};

/// Whether a send (index into ProcessTrace::sends) wants to know of its receive.
using WantsReply = std::function<bool(std::size_t send)>;

/// Those with a call (SendEnds) that may turn out to have waited for the receiver. References are kept.
WantsReply if_it_may_wait(const Replay& replay, const model::ProcessTrace& trace, const rules::CallCosts& costs);

/// Describes the sends of one owned process, one after the other.
class SendRecords
{
public:
    /// Those to processes that are wanted; empty: all.
    SendRecords(const Replay& replay, const model::ProcessTrace& trace, WantsReply wants_reply,
                const WantedPeer& is_wanted = {});

    /// Index of the next send; ProcessTrace::sends.size() if there is none.
    [[nodiscard]] std::uint64_t position() const { return next_; }
    /// The record of the next send; nothing if there is no such receiver, or it is not wanted.
    std::optional<SendRecord> next();

private:
    struct OutChannel {
        model::ProcessId dest;  // none(): there is no such receiver, or it is not wanted
        std::uint32_t sent;
    };

    const model::ProcessTrace& trace_;
    WantsReply wants_reply_;
    SendEnds ends_;
    Peers peers_;
    Numbering numbering_;
    std::vector<OutChannel> channels_;  // by envelope
    std::uint64_t next_ = 0;
};

/// When a receive was posted, and when the call that completed it was entered.
struct ReceiveTimes {
    rules::Enter post;
    model::Ns called = model::Ns::max();
};
ReceiveTimes times_of_receive(const model::ProcessTrace& trace, std::size_t receive);

/// What a receive learns from the record of its send.
MatchedSend matched_send(const Replay& replay, const rules::ClockUncertainty& clocks, const SendRecord& send,
                         const ReceiveTimes& receive);

/// The answer of that receive, and what the sender learns from it.
ReplyRecord reply_to(const Replay& replay, const SendRecord& send, const ReceiveTimes& receive);
MatchedReceive matched_receive(const Replay& replay, const ReplyRecord& reply);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the numbering of messages: a channel is all messages of one tag from one process to another on one
// communicator, and its k-th send matches its k-th receive in posting order. (docs/ALGORITHM, "Point-to-point")
#pragma once

#include "analysis/model/dictionary.hpp"
#include "analysis/model/trace.hpp"
#include "replayer/rules/predecessor.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace critpath::replayer
{

/// A channel as one of its two ends names it: `peer` is the process at the other end.
struct Channel {
    model::CommId comm;
    model::ProcessId peer;
    std::int32_t tag;
    bool operator==(const Channel&) const = default;
};

struct ChannelHash {
    std::size_t operator()(const Channel& channel) const noexcept;
};

/// Whether messages between a process and this one are to be matched.
using WantedPeer = std::function<bool(model::ProcessId peer)>;

/// Translates ranks of a communicator to processes, from the view of one process.
class Peers
{
public:
    Peers(const model::Definitions& definitions, model::ProcessId self) : definitions_(definitions), self_(self) {}

    /// The process with `rank` in `comm` (inter-communicator: in the group that is remote to self). Nothing if there is
    /// no such rank.
    std::optional<model::ProcessId> at(model::CommId comm, std::int32_t rank);

private:
    const std::vector<model::ProcessId>* group(model::CommId comm);

    const model::Definitions& definitions_;
    model::ProcessId self_;
    std::unordered_map<model::CommId, const std::vector<model::ProcessId>*> groups_;
};

/// Numbers the messages of one process in their channels, in posting order, and counts those that were not recorded.
class Numbering
{
public:
    /// `what`: sends or receives.
    Numbering(const model::ProcessTrace& trace, model::Skipped::What what) : skipped_(trace.skipped), what_(what) {}

    /// The number of the next message, which was posted at `post`. Times must not fall.
    std::uint32_t next(const Channel& channel, model::Ns post, Peers& peers);

private:
    const std::vector<model::Skipped>& skipped_;
    model::Skipped::What what_;
    std::size_t passed_ = 0;  // of skipped_
    std::unordered_map<Channel, std::uint32_t, ChannelHash> numbers_;
};

/// When receive `i` has its place in the order of its channel: a matched probe takes the message out of the queue, so
/// it is there and not at the post.
rules::Enter place_of(const model::ProcessTrace& trace, std::uint32_t i);

/// All receives of a process, ascending by their places; empty: as they are.
std::vector<std::uint32_t> order_of_receives(const model::ProcessTrace& trace);

/// The receives of one process by channel, each in the order in which they match. A channel's sends come in their
/// order, so that each receive is looked at once.
class WaitingReceives
{
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    /// Those that get messages from processes that are wanted; empty: all.
    WaitingReceives(const model::Definitions& definitions, const model::ProcessTrace& trace,
                    const WantedPeer& is_wanted = {});

    /// The receive (index into ProcessTrace::receives) of message `number` of a channel, or none. Numbers of a channel
    /// must rise from call to call.
    std::uint32_t take(const Channel& channel, std::uint32_t number);

private:
    struct Queue {
        std::uint32_t first = none;  // receive
        std::uint32_t last = none;
        std::uint32_t number = 0;  // of the first, if all were recorded
    };
    [[nodiscard]] std::uint32_t queue_number(const Channel& channel);
    [[nodiscard]] std::uint32_t number_of(const Queue& queue) const
    {
        return numbers_.empty() ? queue.number : numbers_[queue.first];
    }

    model::Dictionary<Channel, ChannelHash> channels_;
    std::vector<Queue> queues_;           // by channel
    std::vector<std::uint32_t> next_;     // by receive: the next one of its channel
    std::vector<std::uint32_t> numbers_;  // by receive; empty: they count from 0
};

}  // namespace critpath::replayer

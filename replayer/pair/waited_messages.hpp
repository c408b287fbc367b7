// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which of the messages that somebody waited for tell what a transfer takes: not those that moved on only when
// their sender came back to MPI. (docs/ALGORITHM, "What the trace teaches about the machine")
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/pair/transfer_times.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace critpath::replayer
{

using ExamplesByLink = std::array<TransferExamples, rules::links>;

/// A message from its start to the end of the call that waited for it.
struct WaitedMessage {
    model::ProcessId receiver;
    rules::Link link;
    std::uint64_t bytes;
    model::CallRef post;  // of its send
    Ns start, end;
    Ns since;  // when the receiver came back to MPI, if it may have stood still for that (moved_since()); else `start`
    Ns call_enter;       // of the call that waited for it
    bool is_waited_for;  // for half of its time or more, and longer than the call itself may take
    bool is_alone;       // the call that completed it received nothing else

    [[nodiscard]] bool has_moved() const { return since != start; }
    /// Maybe also where all calls are as long, so that nobody knows what they cost.
    [[nodiscard]] bool may_be_waited_for() const { return 2 * (end - call_enter) >= end - start; }
    /// Of several, another one may have stood still, and who held up that one nobody has asked yet.
    [[nodiscard]] bool is_plausible() const { return is_alone || end - since <= 2 * rules::usual_transfer(bytes); }
};

/// `start`, of a message until `end`; or, if the thread that posted it on one side, in the call `post`, was outside of
/// MPI for so much of that time that it may have stood still (half; of a large message, an eighth), and back before its
/// end, when it came back. In a call that only posts it is back if it does not come in another one before the end.
Ns moved_since(const model::Definitions& definitions, const model::ProcessTrace& trace, model::CallRef post,
               std::uint64_t bytes, Ns start, Ns end);

/// What a process has to tell of the messages that it waited for, by size and link: the fastest ones, and of those that
/// may have waited for the process, one of the faster ones. The fastest may have moved on by itself meanwhile. None has
/// waited for it where more were there when it came back; nor where it waited for most of them as long as before,
/// unless the time since they were posted scatters much more than that since it came back.
class WaitedMessages
{
public:
    void add(const WaitedMessage& message);
    /// The receiver was outside of MPI, but did not hold it up.
    void add_there(const WaitedMessage& message) { ++of_size(message.link, message.bytes).there; }
    [[nodiscard]] std::vector<WaitedMessage> examples();

private:
    struct OfSize {
        std::vector<WaitedMessage> still;  // the fastest
        std::vector<WaitedMessage> moved;  // the first ones
        std::size_t all_moved = 0;
        std::size_t there = 0;
    };
    [[nodiscard]] OfSize& of_size(rules::Link link, std::uint64_t bytes)
    {
        return sizes_[{link, rules::size_bucket(bytes)}];
    }

    std::map<std::pair<rules::Link, int>, OfSize> sizes_;
};

/// Adds them to `examples`: those that may have stood still (moved_since()) for either side, as moved, and of these
/// one, of each receiver, size and link. Collective over `replay.comm`.
void add_waited(const Replay& replay, const std::vector<WaitedMessage>& messages, ExamplesByLink& examples);

}  // namespace critpath::replayer

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

    [[nodiscard]] bool has_moved() const { return since != start; }
};

/// `start`, of a message until `end`; or, if the thread that posted it on one side, in the call `post`, was outside of
/// MPI for so much of that time that it may have stood still (half; of a large message, an eighth), and back before its
/// end, when it came back.
Ns moved_since(const model::Calls& calls, model::CallId post, std::uint64_t bytes, Ns start, Ns end);

/// What a process has to tell of the messages that it waited for, by size and link: the fastest ones; and of those that
/// waited for the process, if there are some, one of the faster ones. The fastest may have moved on by itself
/// meanwhile.
class WaitedMessages
{
public:
    void add(const WaitedMessage& message);
    [[nodiscard]] std::vector<WaitedMessage> examples();

private:
    using Key = std::pair<rules::Link, int>;

    std::map<Key, std::vector<WaitedMessage>> fastest_, moved_;  // of the latter, the first ones
};

/// Adds them to `examples`: those that may have stood still (moved_since()) for either side, as moved, and of these
/// one, of each receiver, size and link. Collective over `replay.comm`.
void add_waited(const Replay& replay, const std::vector<WaitedMessage>& messages, ExamplesByLink& examples);

}  // namespace critpath::replayer

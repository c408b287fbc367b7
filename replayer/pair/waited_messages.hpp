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
#include <vector>

namespace critpath::replayer
{

using ExamplesByLink = std::array<TransferExamples, rules::links>;

/// A message from its start to the end of the call that waited for it.
struct WaitedMessage {
    rules::Link link;
    std::uint64_t bytes;
    model::CallRef post;  // of its send
    Ns start, end;
};

/// The fastest message of each size and link that a process has waited for.
class WaitedMessages
{
public:
    void add(const WaitedMessage& message);
    [[nodiscard]] const std::vector<WaitedMessage>& all() const { return fastest_; }

private:
    std::vector<WaitedMessage> fastest_;  // few: one of each size and link that was seen
};

/// Adds them to `examples`: as moved those whose senders were outside of MPI for at least half of their time, and back
/// before their end. Collective over `replay.comm`.
void add_waited(const Replay& replay, const std::vector<WaitedMessage>& messages, ExamplesByLink& examples);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the pairing of sends with receives: the sends travel in bulk, in windows, to the process that holds their
// receives, and what a sender needs to know of a receive travels back. (docs/ALGORITHM, "In parallel")
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/rules/calibration.hpp"
#include "replayer/rules/message_rule.hpp"
#include "replayer/rules/predecessor.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// The send whose message a receive got; without a valid post: it is not in the trace.
struct MatchedSend {
    rules::Enter post;
    model::Ns leave{};  // of the call that completed the send; the end of all time if none did
    functions::SendMode mode = functions::SendMode::None;
    rules::Link link = rules::Link::SameNode;
};

/// The receive that got a send's message. Known only for sends whose completion may have waited for it.
struct MatchedReceive {
    std::uint32_t send;  // index into ProcessTrace::sends
    rules::Enter post;   // of the receive
    rules::Link link;
};

/// What pairing found out about one owned process.
struct ProcessPairs {
    std::vector<MatchedSend> of_receive;  // by receive
    std::vector<MatchedReceive> of_send;  // ascending by send
};

/// The outcome on this process; the counts and calibrated quantities are of the whole trace.
struct Pairs {
    std::vector<ProcessPairs> processes;  // as Replay::processes
    std::uint64_t messages = 0;
    std::uint64_t unmatched_sends = 0;
    std::uint64_t unmatched_receives = 0;
    std::uint64_t clock_violations = 0;  // messages received before they were sent, by more than the clocks are off
};

/// Pairs all messages of the trace, and learns the eager limit and the transfer times, which it puts into
/// `calibration`; its `calls` must be there. Collective over `replay.comm`.
Pairs pair(const Replay& replay, rules::Calibration& calibration);

inline constexpr std::uint64_t pair_window = 65536;  // sends of one traced process in one round

}  // namespace critpath::replayer

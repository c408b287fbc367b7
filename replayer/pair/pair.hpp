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

#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// The send whose message a receive got; without a valid post: it is not in the trace.
struct MatchedSend {
    rules::Enter post;
    functions::SendMode mode = functions::SendMode::None;
    rules::Link link = rules::Link::SameNode;
    bool over_before = false;    // the send was completed before the receive was posted,
    bool surely_over = false;    // and by more than the clocks are off
    bool unaided = false;        // likewise, and the receiving process was outside of MPI from its post to its end
    bool within_clocks = false;  // which of the two was first, the clocks cannot tell
    bool there_at_call = false;  // it was over, as far as clocks tell, before the call that completed the receive
};

/// The matched sends of all receives of a process, in 17 bytes each.
class MatchedSends
{
public:
    explicit MatchedSends(std::size_t receives = 0) : posts_(receives), facts_(receives, 0) {}

    [[nodiscard]] std::size_t size() const { return posts_.size(); }
    void set(std::size_t receive, const MatchedSend& send)
    {
        posts_[receive] = {send.post.call.location.value, send.post.call.call.value, send.post.time};
        const unsigned proof = send.unaided ? alone : send.surely_over ? surely : send.over_before ? over : 0U;
        facts_[receive] = static_cast<std::uint8_t>(
            static_cast<unsigned>(send.mode) | static_cast<unsigned>(send.link) << 3U | proof << 4U |
            (send.there_at_call ? there : 0U) | (send.within_clocks ? unsure : 0U));
    }
    [[nodiscard]] bool has(std::size_t receive) const { return posts_[receive].call != model::CallId::none().value; }
    [[nodiscard]] MatchedSend operator[](std::size_t receive) const
    {
        const auto& [location, call, time] = posts_[receive];
        const unsigned facts = facts_[receive];
        const unsigned proof = facts >> 4U & 3U;
        return {{{{location}, {call}}, time},
                static_cast<functions::SendMode>(facts & 7U),
                static_cast<rules::Link>(facts >> 3U & 1U),
                proof >= over,
                proof >= surely,
                proof >= alone,
                (facts & unsure) != 0,
                (facts & there) != 0};
    }

private:
    static constexpr unsigned over = 1, surely = 2, alone = 3;  // each proves what those before it do
    static constexpr unsigned there = 64, unsure = 128;
    struct Post {
        std::uint32_t location = model::LocationId::none().value;
        std::uint32_t call = model::CallId::none().value;
        model::Ns time{};
    };
    std::vector<Post> posts_;
    std::vector<std::uint8_t> facts_;
};

/// The receive that got a send's message. Known only for sends whose completion may have waited for it.
struct MatchedReceive {
    static constexpr std::uint32_t latest_call = (1U << 31U) - 1;

    std::uint32_t send;  // index into ProcessTrace::sends
    rules::Link link : 1;
    // ns from the post to the enter of the call that completed it; at most latest_call.
    std::uint32_t called_after : 31;
    rules::Enter post;  // of the receive

    /// When its process was surely in MPI to complete it; Ns::max(): too long after the post to tell.
    [[nodiscard]] model::Ns called() const
    {
        return called_after == latest_call ? model::Ns::max() : post.time + model::Ns{called_after};
    }
};
static_assert(sizeof(MatchedReceive) == 24);

/// What pairing found out about one owned process.
struct ProcessPairs {
    MatchedSends of_receive;              // by receive
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

inline constexpr std::uint64_t pair_window = 16384;  // sends of one process of the replay in one round

}  // namespace critpath::replayer

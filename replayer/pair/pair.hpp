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

#include <algorithm>
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

/// The matched sends of all receives of a process, in little more than 13 bytes each.
class MatchedSends
{
public:
    explicit MatchedSends(std::size_t receives = 0) : size_(receives)
    {
        for (std::size_t begin = 0; begin < size_; begin += part)
            parts_.emplace_back(std::min(part, size_ - begin));
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    void set(std::size_t receive, const MatchedSend& send)
    {
        Part& here = parts_[receive / part];
        const std::size_t i = receive % part;
        model::Ns& begin = here.begins[i / block];
        if (begin == never)
            begin = send.post.time - earlier;
        const model::Ns after = send.post.time - begin;
        const bool is_near = model::Ns{0} <= after && after < model::Ns{far};
        here.posts[i] = {send.post.call.location.value, send.post.call.call.value,
                         is_near ? static_cast<std::uint32_t>(after.count())
                                 : far + static_cast<std::uint32_t>(far_ones_.size())};
        if (!is_near)
            far_ones_.push_back(send.post.time);
        const unsigned proof = send.unaided ? alone : send.surely_over ? surely : send.over_before ? over : 0U;
        here.facts[i] = static_cast<std::uint8_t>(
            static_cast<unsigned>(send.mode) | static_cast<unsigned>(send.link) << 3U | proof << 4U |
            (send.there_at_call ? there : 0U) | (send.within_clocks ? unsure : 0U));
    }
    [[nodiscard]] bool has(std::size_t receive) const
    {
        return parts_[receive / part].posts[receive % part].call != model::CallId::none().value;
    }
    [[nodiscard]] MatchedSend operator[](std::size_t receive) const
    {
        const Part& here = parts_[receive / part];
        const std::size_t i = receive % part;
        const auto& [location, call, after] = here.posts[i];
        const unsigned facts = here.facts[i];
        const unsigned proof = facts >> 4U & 3U;
        return {
            {{{location}, {call}}, after < far ? here.begins[i / block] + model::Ns{after} : far_ones_[after - far]},
            static_cast<functions::SendMode>(facts & 7U),
            static_cast<rules::Link>(facts >> 3U & 1U),
            proof >= over,
            proof >= surely,
            proof >= alone,
            (facts & unsure) != 0,
            (facts & there) != 0};
    }

    /// Nobody will ask for those of receives before `end`.
    void forget(std::size_t end)
    {
        for (; (forgotten_ + 1) * part <= end; ++forgotten_)
            parts_[forgotten_] = Part(0);
    }

private:
    static constexpr unsigned over = 1, surely = 2, alone = 3;  // each proves what those before it do
    static constexpr unsigned there = 64, unsure = 128;
    static constexpr std::size_t block = 32, part = 8192;  // receives
    static constexpr model::Ns never = model::Ns::min();
    // What consecutive receives get was sent within two seconds, nearly always, though not always in their order.
    static constexpr std::uint32_t far = 1U << 31;
    static constexpr model::Ns earlier{far / 4};

    struct Post {
        std::uint32_t location = model::LocationId::none().value;
        std::uint32_t call = model::CallId::none().value;
        std::uint32_t after = 0;  // ns since the begin of its block; or, from `far` on, which one of far_ones_
    };
    struct Part {
        explicit Part(std::size_t receives)
            : posts(receives), facts(receives, 0), begins((receives + block - 1) / block, never)
        {
        }
        std::vector<Post> posts;
        std::vector<std::uint8_t> facts;
        std::vector<model::Ns> begins;  // by block
    };

    std::size_t size_;
    std::vector<Part> parts_;
    std::vector<model::Ns> far_ones_;
    std::size_t forgotten_ = 0;  // parts
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

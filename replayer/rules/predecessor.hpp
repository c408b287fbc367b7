// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the answer of a rule: where the critical path goes from the leave of a call.
#pragma once

#include "analysis/model/ids.hpp"
#include "analysis/model/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace critpath::replayer::rules
{

using model::CallRef;
using model::Ns;

/// The enter of a call, anywhere in the trace.
struct Enter {
    CallRef call;
    Ns time{};

    [[nodiscard]] bool valid() const { return call.valid(); }
    /// The canonical order: by time; at equal times the location of the larger rank is the later one.
    [[nodiscard]] auto order() const { return std::tuple(time, call.location, call.call); }
};

/// In the canonical order; what is not there is earlier than all.
inline void take_later(Enter& mine, const Enter& other)
{
    if (other.valid() && (!mine.valid() || other.order() > mine.order()))
        mine = other;
}

/// A call as the rules see it.
struct Waiting {
    CallRef call;
    Ns enter;
    Ns leave;
    Ns excess;     // by how much it took longer than its least cost
    Ns threshold;  // from which excess on it counts as having waited
    Ns unseen{};   // by so much later than what has come may it end: of polls, the time between them
    Ns lacked{};   // for so long before its end its thread had no processor: nothing has to explain that

    [[nodiscard]] bool waited() const { return excess > threshold; }
    /// How long after `time` it ended, but for what explains itself.
    [[nodiscard]] Ns ended_after(Ns time) const { return std::max(leave - lacked - time, Ns{0}); }
    /// Whether it had no processor for all that it took longer than such calls cost.
    [[nodiscard]] bool only_lacked() const { return excess - lacked <= threshold; }
};

enum class Route : std::uint8_t {
    Work,        // through the call: what it did was local work
    Delay,       // through the call, but it took longer than its work, and no partner explains it
    Completion,  // through the call: this was the last arriver, and the call completes the collective
    Message,     // to the enter in which the message was posted that released the call
    Collective,  // to the enter of the member that released the call
    Thread,      // to the point of a thread of the same process that was waited for
    Ask,         // the members of the instance have to be looked at one by one (see rules::MemberQuery)
};

struct Predecessor {
    Route route = Route::Work;
    Enter from;               // Message, Collective
    std::uint64_t bytes = 0;  // of the message
    bool low_confidence = false;
    bool within_clocks = false;  // low confidence, because another choice is possible within the error of the clocks
    bool meeting = false;        // all paths meet here, whatever comes later: all processes waited for this one
    model::LocationId peer = model::LocationId::none();  // Message: its other side, if that is known
    bool sends = false;                                  // Message: it goes to the peer, and does not come from there

    /// `possible`: within the error of the clocks, it may be another one.
    void doubt_clocks(bool possible)
    {
        within_clocks = within_clocks || possible;
        low_confidence = low_confidence || possible;
    }
    [[nodiscard]] bool is_jump() const { return route >= Route::Message && route <= Route::Thread; }
};

}  // namespace critpath::replayer::rules

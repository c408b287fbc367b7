// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the rule for transfers that stood still: what meets its receiver moves only while both sides are in MPI, unless
// the network or a thread of the library moves it. (docs/ALGORITHM, "Late progress")
#pragma once

#include "replayer/rules/member_query.hpp"
#include "replayer/rules/message_rule.hpp"

#include <optional>
#include <span>

namespace critpath::replayer::rules
{

/// A transfer that may have stood still, of a call that ended too late for it.
struct Standstill {
    Ns start;                 // when both sides were posted
    Ns enter, leave;          // of the call
    Ns explained;             // until when all that the call completed explains it
    Ns transfer;              // what it takes
    Ns threshold;             // of the call
    bool held;                // by the partner alone, who had to take it in some moment of its own
    Ns lacked{0};             // for so long before its end the thread had no processor: it may have been over earlier
    bool sends = false;       // the call does
    bool by_partner = false;  // only that one can have moved it on: this side has nothing to do but take it
};

/// How an enter of MPI explains the end of the call.
enum class Fit : std::uint8_t {
    None,
    Loose,  // the call ended when a slow one was over, or soon after it, and much too late for anything else
    Close,  // somewhat sooner than a transfer can be over that began then
    Tight,  // the call ended when a transfer was over that began then
};

/// Whether the call was much too late for anything else.
bool is_much(const Standstill& standstill);

/// After an enter that explains the end of the call, it ended within that time.
Ns soon(const Standstill& standstill);

/// A time in which a process was outside of MPI.
struct Outside {
    Ns since, until;
};

/// Whether a process may have held up the transfer that was outside of MPI at these times.
bool was_mostly_outside(const Standstill& standstill, std::span<const Outside> outside);

/// `enter`: a side entered MPI, where it had not been at these times.
Fit fit(const Standstill& standstill, Ns enter, std::span<const Outside> outside);

/// Whether the transfer can hardly have begun before that enter, and ended soon after it: the call sends what has to be
/// taken, its receiver was outside all the time since both had posted it, for longer than what followed, and that was a
/// transfer as they are.
bool is_certain(const Standstill& standstill, Ns enter, const Outside& before);

/// What may have stood still, of a message of a call that all that it completed explains until `explained`
/// (Conclusion::explained); nothing, if that is its end, or the message moves on by itself.
std::optional<Standstill> standstill(const Waiting& call, Ns explained, const Message& message,
                                     const Calibration& calibration);

/// What to ask the members of a non-blocking collective that may have stood still, of those that the call completed;
/// nothing, if what the call completed explains its end. `limit`: the longest time that it may take.
std::optional<MemberQuery> standstill(const Waiting& call, Ns explained, const Gathered& gathered, Ns limit);

/// What to ask them, too, where not all are needed by the standard: who posted it later than those who are.
MemberQuery release(const MemberQuery& standstill, const Calibration& calibration);

}  // namespace critpath::replayer::rules

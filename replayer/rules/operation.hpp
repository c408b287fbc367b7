// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the rule table: which MPI function waits for what. Everything that the replay knows about a function beyond
// the vocabulary in formats/functions stands here.
#pragma once

#include "formats/functions/functions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace critpath::replayer::rules
{

using functions::CollectiveShape;
using functions::FunctionId;

/// What the leave of a call may depend on besides the call itself.
enum class Dependence : std::uint8_t {
    Nothing,
    AllMessages,    // every message operation that the call completed; the last one releases it
    AnyMessage,     // the first of the message operations that the call completed releases it
    ProbedMessage,  // the message that a probe reported
    Members,        // the members of a communicator, by `shape`
    MembersLater,   // it only begins that: what completes it depends on the members, by `shape`
};

/// Whether the MPI library looks in a call at what the others want of the process, so that what stands still goes on.
enum class Looks : std::uint8_t {
    Always,
    Perhaps,  // the call only says what is to be done: most libraries return from it without looking
    Never,    // it does its own work: to who is in it, nothing comes, no more than to who computes
};

struct Operation {
    Dependence dependence = Dependence::Nothing;
    CollectiveShape shape = CollectiveShape::None;
    bool sync_tested = false;  // AllToAll only where all members left after the last one came; else local work
    bool blocking = false;     // if the call is long and nobody explains it, it is a delay, not work
    bool polls = false;        // returns at once: waits only as the end of a run of polls
    bool on_file = false;      // what takes long is the file system, unless all members left after the last one came
    bool may_pass = false;     // AllToAll only where the call waited: nothing obliges it to
    bool has_amounts =
        false;               // members that have nothing to give need not be waited for, who gets nothing need not wait
    bool some_give = false;  // a member may give to some of those that it gives to, and nothing to others
    Looks looks = Looks::Never;
};

/// By function; the last one is for all others.
using Operations = std::array<Operation, static_cast<std::size_t>(FunctionId::count) + 1>;
extern const Operations operations;

/// The row of the table for `function`; functions that the table does not list wait for nothing, unless the trace
/// says that they are collective (`unlisted_collective`).
inline const Operation& operation(FunctionId function)
{
    return operations[std::min(static_cast<std::size_t>(function), operations.size() - 1)];
}

/// A collective operation that is not in the function table, e.g. from a trace of another tool. Nothing is known of
/// its dependencies, but if it behaved as a synchronisation it is taken for one.
Operation unlisted_collective();

}  // namespace critpath::replayer::rules

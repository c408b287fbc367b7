// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the rules for calls that complete messages: blocking sends and receives, waits, probes. (docs/ALGORITHM,
// "Point-to-point")
#pragma once

#include "replayer/rules/calibration.hpp"
#include "replayer/rules/operation.hpp"
#include "replayer/rules/predecessor.hpp"
#include "replayer/rules/rule_set.hpp"

#include <optional>
#include <span>

namespace critpath::replayer::rules
{

using functions::SendMode;

/// How the transfer of a message begins.
enum class Protocol : std::uint8_t {
    Eager,       // at the post of the send
    Rendezvous,  // when both sides have posted
};

/// A synchronous send always meets its receiver. A standard send that is larger than what is known to be buffered, and
/// that was not over before the receive was posted, is taken to have met it too.
Protocol protocol(SendMode mode, std::uint64_t bytes, bool over_before, std::int64_t eager_limit);

/// One message of a call, seen from the side that the call completes.
struct Message {
    bool receiving;  // the call completes the receive; otherwise the send
    Enter own;       // the post on this side
    Enter remote;    // the post on the other side (of a receive: of the probe that matched it, if there was one)
    std::uint64_t bytes;
    Protocol protocol;
    Link link;
    bool within_clocks = false;  // the clocks are too far off to tell the protocol
    bool one_sided = false;      // between windows
    bool held = false;           // a buffered send that the receiver's process may have to take, whenever it is in MPI
    // Between windows: the target's location (of what is done by others: none()), and whether data goes there.
    model::LocationId target = model::LocationId::none();
    bool puts = false;
    Ns late{};  // between windows: by so much the call at `remote` was late, and so what it released

    [[nodiscard]] model::LocationId peer() const { return target.valid() ? target : remote.call.location; }
    [[nodiscard]] bool sends() const { return one_sided ? puts : !receiving; }
    /// Whether the transfer moves only while both sides are in MPI, unless something else moves it on.
    [[nodiscard]] bool may_stand_still() const
    {
        return (protocol == Protocol::Rendezvous || held || receiving) && !one_sided;
    }
};

/// A non-blocking collective that the call completes.
struct Gathered {
    Enter last;  // the post of the last member that was needed; not valid: nobody was, as far as the clocks can tell
    bool own;    // which is that of this one
    Ns least;    // from there to the end
    std::uint64_t bytes;
    bool within_clocks = false;  // the clocks are too far off to tell who was the last
    bool needs_nobody = false;   // as far as is known: `last` is the own post, and no candidate

    [[nodiscard]] bool is_unknown() const { return !last.valid(); }
};

/// What a transfer takes at most, where it may take twice as long as is known.
constexpr Ns longest(Ns transfer)
{
    return 2 * transfer + transfer / 4;
}

/// What a call completes.
struct Completed {
    std::span<const Message> messages;
    std::span<const Gathered> collectives = {};  // for RuleSet::Arrival; the others look at messages only
};

/// When that had arrived which a call waited for, and how far off that may be.
struct Arrival {
    Ns time;
    Ns error;
};

/// `dependence` as of message_predecessor(). Nothing: the call waits for nobody.
std::optional<Arrival> arrival(const Waiting& call, Dependence dependence, const Completed& completed,
                               const Calibration& calibration);

/// Whether the call waited for a target that entered MPI at `target`: it went on for so long after all that it
/// completes can have arrived that something must have stood still meanwhile, or it ended just when the target can have
/// answered.
bool stood_still(const Waiting& call, Ns target, const Completed& completed, const Calibration& calibration);

/// What a call that completes something says of its leave.
struct Conclusion {
    Predecessor predecessor;
    /// Of RuleSet::Arrival: until when what the call completes explains that it went on, which is until all had
    /// arrived, or the first of it, as `dependence` has it; at the least, but as late as the clocks may be off.
    Ns explained{};
};

/// The critical predecessor of the leave of `call`, which waited for one or all of `completed`. `dependence` is
/// AllMessages, AnyMessage or ProbedMessage.
Conclusion message_predecessor(RuleSet rules, const Waiting& call, Dependence dependence, const Completed& completed,
                               const Calibration& calibration);

}  // namespace critpath::replayer::rules

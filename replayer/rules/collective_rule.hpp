// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the rules for collective operations: what has to be known of an instance, how partial knowledge combines, and
// which member released which. (docs/ALGORITHM, "Collectives")
#pragma once

#include "replayer/rules/calibration.hpp"
#include "replayer/rules/member_query.hpp"
#include "replayer/rules/operation.hpp"
#include "replayer/rules/predecessor.hpp"
#include "replayer/rules/rule_set.hpp"

#include <cstdint>
#include <limits>
#include <optional>

namespace critpath::replayer::rules
{

/// One member's part in an instance: what the process that holds its trace knows.
struct Member {
    Enter enter;
    Ns leave;
    FunctionId function;
    std::uint32_t rank;  // in the communicator (inter-communicator: in its own group)
    std::int32_t root;   // as recorded; -1: none
    bool is_root;
    std::uint64_t bytes;  // the larger of sent and received
    bool gives, gets;     // false: it has nothing to send to anybody, nothing to receive from anybody
    model::NodeId clock;  // domain
    Ns clock_error;       // the largest of times by that clock, against others
    bool is_blocking;     // the call that was entered is the one that was left
};

/// The last of some enters, and the last one by another clock than that of the first.
struct LastOfTwoClocks {
    Enter first{CallRef{}, Ns::min()}, second{CallRef{}, Ns::min()};
    model::NodeId clock_of_first, clock_of_second;

    void take(const Enter& enter, model::NodeId clock);
    /// The last one by another clock. Not valid: there is none.
    [[nodiscard]] const Enter& beside(model::NodeId clock) const { return clock == clock_of_first ? second : first; }
};

/// What is known of one instance (of one side of it, for an inter-communicator) from some of its members. Combines
/// associatively and commutatively, ties by the canonical order, so that any tree gives the same.
struct Instance {
    static constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();

    Enter last{CallRef{}, Ns::min()};        // the last arriver
    LastOfTwoClocks at_the_latest;           // where each came as late as its clock may be off
    Enter last_giver{CallRef{}, Ns::min()};  // the last arriver that gives something, the root left out
    Enter root{CallRef{}, Ns::min()};
    Enter shortest{CallRef{}, Ns::min()};  // whoever was in the call for the shortest time (larger order on ties)
    std::int64_t least_duration = latest;  // ns
    std::int64_t first_leave = latest;     // ns
    std::int64_t last_leave = -latest;     // ns
    model::NodeId clock_of_last, clock_of_shortest;
    std::uint64_t bytes = 0;  // the largest of the members
    std::uint32_t members = 0;
    std::uint16_t least_function = 0xffff;  // differ if the members are not in the same operation
    std::uint16_t largest_function = 0;

    void add(const Member& member);
    void merge(const Instance& other);
    [[nodiscard]] bool mismatched() const { return members > 0 && least_function != largest_function; }
    /// Whose clock allows it most that it came last, of all by other clocks than that of `last`; the time is the latest
    /// that its clock allows.
    [[nodiscard]] const Enter& rival() const { return at_the_latest.beside(clock_of_last); }

private:
    void take_last(const Enter& enter, model::NodeId clock);
};

/// What the rules need to know to decide about one member without looking at the others one by one.
struct CollectiveCase {
    Operation operation;
    bool inter = false;             // inter-communicator: `instance` is the remote side
    bool neighbours_known = false;  // of CollectiveShape::Neighbour: the trace tells whom it gets something from
    std::size_t size = 0;           // members of the communicator (of the side that `instance` describes)
    const Instance* instance = nullptr;

    /// Nobody else is there.
    [[nodiscard]] bool is_alone() const { return !inter && size < 2; }
};

/// Whether no member can leave such an operation before all have come. Where it is false, members may have nothing to
/// say to each other, or need not wait.
bool needs_all(FunctionId function, std::uint64_t bytes);

/// The last arriver of those that an operation waits for which waits for all that give something; not valid: for
/// nobody.
Enter last_giver(const Instance& instance, const Operation& operation);

/// Whether the clocks are too far off to tell which of those was the last one.
bool may_be_another_giver(const Instance& instance, const Operation& operation, const ClockUncertainty& clocks);

/// Whether the member waits for nobody, because it gets nothing while others do.
bool gets_nothing(const Instance& instance, const Member& member);

/// For whom the members of an all-to-all operation waited. The same for all members.
struct Arriver {
    Enter enter;
    bool within_clocks;  // it may be another one, within the error of the clocks
};
Arriver last_arriver(const Instance& instance, const ClockUncertainty& clocks);

/// Whether the clocks are too far off to tell who came last.
bool may_be_another(const Instance& instance, const ClockUncertainty& clocks);

/// The critical predecessor of the leave of `call`. Route::Ask: put `query` to all members, of both groups of an
/// inter-communicator, each by itself; `otherwise` is the answer if none of them is found to have released the call.
/// With Calibration::collectives_unseen it only says that there is no decision yet; any other is the same as when all
/// collectives have been seen.
struct CollectiveDecision {
    Predecessor predecessor;
    MemberQuery query{};
    Predecessor otherwise;
};
CollectiveDecision collective_predecessor(RuleSet rules, const Waiting& call, const Member& member,
                                          const CollectiveCase& instance, const Calibration& calibration);

/// From when on the call of a question by the release rule may have been held up by somebody who was outside of MPI,
/// and not by who has not come yet. Nothing: it cannot.
std::optional<Ns> held_up_since(const Waiting& call, const MemberQuery& release, const CollectiveCase& instance);

/// What to ask the members besides, where `found` is the answer to `release`: who let the call go when he came back to
/// MPI elsewhere, before his part in the operation. Nothing: the call is explained.
std::optional<MemberQuery> return_query(const MemberQuery& release, Ns held_up_since, const Predecessor& found);

/// The time from the last arrival that `call` needed to its leave, if it evidently waited for it: an example for
/// Calibration::collectives. Negative: none. `call`: of an operation that does not block, the wait for it. Of one
/// between neighbours: of a member that gets something from the last one to come.
Ns completion_example(const Waiting& call, const Member& member, const CollectiveCase& instance);

}  // namespace critpath::replayer::rules

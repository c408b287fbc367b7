// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the question that can only be answered by looking at the members of an instance one by one: which of them
// released a call. (docs/ALGORITHM, "Collectives")
#pragma once

#include "replayer/rules/calibration.hpp"
#include "replayer/rules/instance_members.hpp"
#include "replayer/rules/operation.hpp"
#include "replayer/rules/predecessor.hpp"

#include <cstdint>
#include <span>

namespace critpath::replayer::rules
{

/// Below this excess, a call that its dependencies do not explain is not worth a guess.
inline constexpr Ns release_excess = std::chrono::microseconds{20};

/// What a member's question to the whole instance looks like (Route::Ask): the last arriver among those that it needs,
/// or the one that let a call go which its dependencies do not explain.
struct MemberQuery {
    CallRef call;
    Ns enter;
    Ns leave;
    std::uint32_t rank;  // of the asking member
    CollectiveShape shape;
    bool exclusive_prefix;  // Exscan: only the members before it
    bool some_give;         // AllToAll, Neighbour: not everybody who gives something need give it to this member
    bool may_depend;        // it waited, so that its dependencies may have released it:
    Ns since;               // those that came after this; where some give,
    Ns completion;          // about so long before the end
    bool may_release;       // it waited so long that the release rule applies
    Ns limit;               // 0: none; for the release rule, the longest time after an arrival,
    Ns least;               // and the shortest, that of a message
    bool returns;           // who came back to MPI instead, after `since`, and moved on what stood still:
    Ns tolerance;           // `completion` before the end, by so much more or less; or within `limit`;
                            // with may_release: of a blocking operation, in another call; shortly before the end
};

/// Answers a query: Route::Collective; Route::Completion, if the member itself was the last one that was needed; or
/// Route::Ask if no member released the call. Of those who came back, Route::Work, if it was the member itself.
/// `sources`: the in-neighbours of the asking member, ascending.
Predecessor answer(const MemberQuery& query, const InstanceMembers& members, const ClockUncertainty& clocks,
                   std::span<const std::uint32_t> sources = {});

}  // namespace critpath::replayer::rules

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns when the members of an instance were outside of MPI, and came back. (docs/ALGORITHM, "Late progress")
#pragma once

#include "replayer/collect/members.hpp"

namespace critpath::replayer
{

/// Both ends belong to it.
struct Period {
    model::Ns since = model::Ns::min(), until = model::Ns::max();
    auto operator<=>(const Period&) const = default;
};

/// When a member came back to MPI in the period from the longest time outside since its begin, between the post of a
/// non-blocking operation and the call that completed it. Not valid: it was never outside, or that is not known.
rules::MemberInfo member_came_back(const Replay& replay, const Part& part, const Period& period);

/// When a member of a blocking operation came back to MPI in the period from the longest time outside since its begin,
/// in whatever call before that of the operation itself. Not valid: as above.
/// `posts_look`: calls that only post count as being in MPI.
rules::MemberInfo member_came_back_elsewhere(const Replay& replay, const Part& part, const Period& period,
                                             bool posts_look);

}  // namespace critpath::replayer

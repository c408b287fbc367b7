// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns when the members of an instance were outside of MPI, and came back. (docs/ALGORITHM, "Late progress")
#pragma once

#include "replayer/collect/members.hpp"
#include "replayer/pair/progress.hpp"

#include <vector>

namespace critpath::replayer
{

/// Both ends belong to it.
struct Period {
    model::Ns since = model::Ns::min(), until = model::Ns::max();
    auto operator<=>(const Period&) const = default;
};

/// When a member came back to MPI in the period, between the post of a non-blocking operation and the call that
/// completed it: from the longest time outside since its begin, and shortly before its end, where several times outside
/// may have held up an operation, the last of which is no chance. Of an operation with a root also when it posted it,
/// as it held it up until then. None: it was never outside, or that is not known.
/// `posts`: whether calls that only post count as being in MPI.
std::vector<rules::MemberInfo> member_came_back(const Replay& replay, const Part& part, const Period& period,
                                                ProgressCalls::Posts posts);

/// Likewise a member of a blocking operation, in whatever call before that of the operation itself.
std::vector<rules::MemberInfo> member_came_back_elsewhere(const Replay& replay, const Part& part, const Period& period,
                                                          ProgressCalls::Posts posts);

}  // namespace critpath::replayer

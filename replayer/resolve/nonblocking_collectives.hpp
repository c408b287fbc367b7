// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what calls that complete non-blocking collectives wait for: the posts of the members that are needed.
// (docs/ALGORITHM, "Collectives")
#pragma once

#include "replayer/collect/collect.hpp"
#include "replayer/collect/queries.hpp"
#include "replayer/rules/message_rule.hpp"

#include <vector>

namespace critpath::replayer
{

/// A non-blocking collective that `call` completed.
struct CompletedCollective {
    model::CallRef call;
    rules::Gathered gathered;
    Side side;   // and the number of the instance on it
    Side other;  // between groups, the other one's side; else the same
    std::uint32_t number;
    model::Ns limit;      // the longest time that it may take
    model::Ns last_post;  // of all members, whoever is needed; between groups not known: Ns::min()
    Period held_up;       // when it could go on, but members may have held it up
};

/// By owned process, ascending by call. Collectives of which members are unknown are left out. Collective over
/// `replay.comm`.
std::vector<std::vector<CompletedCollective>>
completed_collectives(const Replay& replay, const Collectives& collectives, const rules::Calibration& calibration);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the phase "collect": all collectives of the trace, re-executed, and the times of collectives learned from them.
#pragma once

#include "replayer/collect/instances.hpp"
#include "replayer/collect/members.hpp"
#include "replayer/rules/calibration.hpp"

namespace critpath::replayer
{

struct Collectives {
    Members members;
    Instances instances;

    /// What the rules decide about one part from.
    [[nodiscard]] rules::CollectiveCase of(std::size_t process, std::size_t collective) const;
};

/// Re-executes the collectives of all sides; as reduce_instances.
using ReduceInstances = Instances (*)(const Replay& replay, const Members& members);

/// Reduces all instances, and puts the completion times of collectives into `calibration`. Collective over
/// `replay.comm`.
Collectives collect(const Replay& replay, rules::Calibration& calibration, ReduceInstances reduce = reduce_instances);

}  // namespace critpath::replayer

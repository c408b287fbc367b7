// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the choice of what gaps are compared by, where the peers may have their work elsewhere in the program: by spans,
// or by laps.
#pragma once

#include "replayer/peers/chosen.hpp"
#include "replayer/peers/sums.hpp"

#include <vector>

namespace critpath::replayer
{

/// Replaces what is known of such places. `places`: those of `chosen`. Collective over `replay.comm`.
void compare_elsewhere(const Replay& replay, const Predecessors& predecessors, const SameCalls& same,
                       std::vector<Gaps>& gaps, const Chosen& chosen, const std::vector<GapPlace>& places, Sums& found);

}  // namespace critpath::replayer

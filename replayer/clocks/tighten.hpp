// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the step from clocks that were compared while the application ran, or not at all, to times that the events of
// the trace do not contradict: what messages and collectives prove is intersected with what was measured, and the times
// of each clock are moved to the middle of what is left. (docs/ALGORITHM, "Clocks")
#pragma once

#include "replayer/clocks/clocks.hpp"

namespace critpath::replayer::clocks
{

/// Moves the times of `replay`, whose processes are whole (before anything is cut off), and renews
/// definitions.clock_uncertainty, Replay::clocks and what `findings` says about these. Pairs the messages between
/// clocks for itself, which needs none. Nothing happens where all processes share one clock. Collective.
void tighten(Replay& replay, Findings& findings);

}  // namespace critpath::replayer::clocks

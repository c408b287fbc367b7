// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way of samples from the rings to the files: passes over the slots. Done by the helper thread, or by a thread
// of the application where nothing is sampled or nothing runs any more.
#pragma once

#include "collector/sampling/state.hpp"

namespace critpath::sampling
{

/// Ends a slot in place of its thread.
void end_slot(const State& state, Slot& slot);

/// Drains the rings that are filling, closes what ended. Takes the pass lock.
void pass(State& state);

/// As pass(), but of all rings, however little is in them. The caller holds the pass lock.
void pass_all(State& state);

}  // namespace critpath::sampling

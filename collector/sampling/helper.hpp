// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the helper thread of a process that is sampled: when it runs, what it waits for, and that it never keeps a
// process alive.
#pragma once

#include "collector/sampling/state.hpp"

namespace critpath::sampling
{

/// Starts the helper if it does not run. Returns 0 or an errno.
int ensure_helper(State& state);

/// The helper does a pass soon; or the caller does it, where there is no helper because nothing is sampled.
void request_pass(State& state);

/// Waits for the end of the helper; `state.stage` has told it to end.
void join_helper(State& state);

/// Closes what wakes the helper.
void close_wake(State& state);

}  // namespace critpath::sampling

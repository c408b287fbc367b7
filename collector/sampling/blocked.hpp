// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns where threads are blocked: what the kernel counts does not tell it, so now and then the helper looks at those
// that are (outside of waits of MPI). At a computing thread a look costs two reads of memory; at a blocked one some
// microseconds of the helper's, once in each time that it is blocked.
#pragma once

#include "collector/sampling/state.hpp"

namespace critpath::sampling
{

/// By the thread itself, so that no number of a descriptor that another thread expects is taken: what it does in the
/// kernel can be read from now on. Where it cannot be opened, nobody looks.
void open_system_call(Slot& slot);
void close_system_call(Slot& slot);

/// The helper, whenever it is awake; does nothing before its time. The caller does not hold the pass lock.
void look_at_blocked(State& state);

/// ms until look_at_blocked or look_at_deep_stacks may have to do something, at most `longest`.
int until_next_look(const State& state, int longest);

}  // namespace critpath::sampling

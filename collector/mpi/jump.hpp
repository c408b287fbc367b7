// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how it is noticed that the application has left a wrapper by a jump: an error handler or a signal handler that
// throws an exception or calls longjmp() leaves nothing but a depth (thread.hpp) that is never counted down.
//
// Local remembers the frame and the return address of the outermost wrapper. If that wrapper were still active, its
// return address would still lie in its place, and the stack of a wrapper called since would end below it. The first
// is asked on every stack, by a way that also survives a stack that is gone; the second on the thread's own stack
// alone, since the stacks of fibres and of signal handlers lie anywhere. Where neither shows it, because nothing has
// written over the old frame yet, one of the next calls will.
#pragma once

#include "collector/mpi/callpath.hpp"
#include "collector/mpi/thread.hpp"

namespace critpath::preload
{

/// For a wrapper, or a function like one, that was called at a depth of more than 0: true if the outermost wrapper is
/// not active any more, so that the depth means nothing.
bool outermost_is_gone(const Caller& caller);

/// Sets the depth to 0 and writes the record of the call that was left. When it ended is not known: it counts as
/// failed, and as the time until now, so that nothing is taken for the application's own time that may not be.
void end_left_call();

/// Both of the above.
__attribute__((noinline)) void notice_jump(const Caller& caller);

}  // namespace critpath::preload

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the interposition of sigaltstack: on an alternate stack that the application has made for a handler of its own
// there may be no room for that of our timers.
#include "collector/mpi/thread.hpp"
#include "collector/sampling/thread_timer.hpp"

#include <atomic>

#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace critpath::preload
{

namespace
{

using SetStack = int (*)(const stack_t*, stack_t*);

std::atomic<SetStack> next_set_stack = nullptr;

}  // namespace

void find_alternate_stack()
{
    next_set_stack.store(reinterpret_cast<SetStack>(dlsym(RTLD_NEXT, "sigaltstack")), std::memory_order_relaxed);
}

// As the application would have.
static int set_stack(const stack_t* stack, stack_t* old)
{
    const SetStack next = next_set_stack.load(std::memory_order_relaxed);
    return next != nullptr ? next(stack, old) : static_cast<int>(syscall(SYS_sigaltstack, stack, old));
}

}  // namespace critpath::preload

extern "C" __attribute__((visibility("default"))) int sigaltstack(const stack_t* stack, stack_t* old) noexcept
{
    if (stack != nullptr) {
        critpath::sampling::handlers_run_on(*stack);
    }
    return critpath::preload::set_stack(stack, old);
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the interposition of sched_yield: who calls it while it waits in MPI may do so some hundred thousand times a
// second.
#include "collector/mpi/thread.hpp"
#include "collector/sampling/sampling.hpp"

#include <atomic>

#include <dlfcn.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace critpath::preload
{

namespace
{

using Yield = int (*)();

std::atomic<Yield> next_yield = nullptr;

}  // namespace

void find_yield()
{
    next_yield.store(reinterpret_cast<Yield>(dlsym(RTLD_NEXT, "sched_yield")), std::memory_order_relaxed);
}

// As the application would have.
static int yield_to_others()
{
    const Yield next = next_yield.load(std::memory_order_relaxed);
    return next != nullptr ? next() : static_cast<int>(syscall(SYS_sched_yield));  // before anything was looked up
}

}  // namespace critpath::preload

extern "C" __attribute__((visibility("default"))) int sched_yield() noexcept
{
    critpath::sampling::gives_way();
    return critpath::preload::yield_to_others();
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the clock of all records: CLOCK_MONOTONIC_RAW, which no time daemon bends, and which perf_event can use too.
// Where the kernel makes it from the processor's time stamp counter, so does now(), in less than half the time: each
// thread keeps an anchor, which is a reading of both, and asks the kernel again before the rate that it knows could
// mislead it.
#pragma once

#include "collector/mpi/tick_line.hpp"

#include <cstdint>

#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace critpath::preload
{

inline constexpr clockid_t clock_id = CLOCK_MONOTONIC_RAW;

inline std::uint64_t nanoseconds(clockid_t clock)
{
    timespec time;
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Of the calling thread. Covers nothing before its first use, and never does where the kernel's clock is asked.
extern __thread TickLine tick_line __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// Asks the kernel, and lays the calling thread's line anew.
std::uint64_t now_from_kernel();

/// Lets now() use the time stamp counter if the kernel does, and if the process may read it. Once, at load time.
void start_ticks();

/// In ns, for the moment before a call: where nothing waits for what stands before it, it may be taken some 10 ns
/// early.
inline std::uint64_t now_before()
{
#if defined(__x86_64__)
    const std::uint64_t ticks = __rdtsc();
    if (tick_line.covers(ticks)) [[likely]] {
        return tick_line.at(ticks);
    }
#endif
    return now_from_kernel();
}

/// In ns, after all that stands before it: what another process did before a message came has happened by then.
inline std::uint64_t now()
{
#if defined(__x86_64__)
    _mm_lfence();
#endif
    return now_before();
}

}  // namespace critpath::preload

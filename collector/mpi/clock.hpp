// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the clock of all records: CLOCK_MONOTONIC_RAW, which no time daemon bends, and which perf_event can use too.
// Where the kernel makes it from the processor's time stamp counter, so does now(), in less than half the time: along a
// line of each thread (tick_line.hpp), for which the kernel is asked again before the line could mislead.
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

/// Of the calling thread.
extern __thread TickLine tick_line __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// The counter may be read, and tells the time.
extern bool ticks_are_used __attribute__((visibility("hidden")));

/// Sets ticks_are_used, if the process may read the counter. Once, at load time, where the kernel uses it.
void start_ticks();

/// Asks the kernel, and lays the calling thread's line anew.
std::uint64_t lay_tick_line();

/// In ns, for the moment before a call: where nothing waits for what stands before it, it may be taken some 10 ns
/// early.
inline std::uint64_t now_before()
{
#if defined(__x86_64__)
    if (ticks_are_used) [[likely]] {
        const std::uint64_t ticks = __rdtsc();
        return tick_line.covers(ticks) ? tick_line.at(ticks) : lay_tick_line();
    }
#endif
    return nanoseconds(clock_id);
}

/// In ns, after all that stands before it: what another process did before a message came has happened by then.
inline std::uint64_t now()
{
#if defined(__x86_64__)
    if (ticks_are_used) [[likely]] {
        _mm_lfence();
    }
#endif
    return now_before();
}

}  // namespace critpath::preload

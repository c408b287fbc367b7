// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the clock of all records: CLOCK_MONOTONIC_RAW, which no time daemon bends, and which perf_event can use too.
#pragma once

#include <cstdint>

#include <time.h>

namespace critpath::preload
{

inline constexpr clockid_t clock_id = CLOCK_MONOTONIC_RAW;

inline std::uint64_t nanoseconds(clockid_t clock)
{
    timespec time;
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

inline std::uint64_t now()
{
    return nanoseconds(clock_id);
}

}  // namespace critpath::preload

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/clock.hpp"

#if defined(__x86_64__)
#include <sys/prctl.h>
#endif

namespace critpath::preload
{

__thread TickLine tick_line __attribute__((tls_model("initial-exec"), visibility("hidden")));

#if defined(__x86_64__)

namespace
{

TickReading first;  // of the process; no ticks: they are not used

TickReading read_both()
{
    _mm_lfence();
    const std::uint64_t before = __rdtsc();
    const std::uint64_t time = nanoseconds(clock_id);
    _mm_lfence();
    const std::uint64_t after = __rdtsc();
    return {before + (after - before) / 2, time, after - before};
}

// The closest of some, as long as none is close enough: an interrupt may come in between.
TickReading read_closely(int attempts, std::uint64_t close)
{
    TickReading closest = read_both();
    for (int attempt = 1; attempt < attempts && closest.doubt > close; ++attempt) {
        const TickReading reading = read_both();
        closest = reading.doubt < closest.doubt ? reading : closest;
    }
    return closest;
}

}  // namespace

void start_ticks()
{
    int access = 0;
    if (prctl(PR_GET_TSC, &access) == 0 && access == PR_TSC_ENABLE) {
        first = read_closely(10, 0);
    }
}

std::uint64_t now_from_kernel()
{
    return first.ticks == 0 ? nanoseconds(clock_id) : tick_line.lay(first, read_closely(4, 2 * first.doubt));
}

#else

void start_ticks() {}

std::uint64_t now_from_kernel()
{
    return nanoseconds(clock_id);
}

#endif

}  // namespace critpath::preload

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/clock.hpp"

#if defined(__x86_64__)
#include <sys/prctl.h>
#endif

namespace critpath::preload
{

__thread TickLine tick_line __attribute__((tls_model("initial-exec"), visibility("hidden")));
bool ticks_are_used = false;

#if defined(__x86_64__)

namespace
{

// `doubt`: ticks that may lie between the two.
struct Attempt {
    TickReading reading;
    std::uint64_t doubt;
};

std::uint64_t usual_doubt = 0;

Attempt read_both()
{
    _mm_lfence();
    const std::uint64_t before = __rdtsc();
    const std::uint64_t time = nanoseconds(clock_id);
    _mm_lfence();
    const std::uint64_t after = __rdtsc();
    return {{before + (after - before) / 2, time}, after - before};
}

// The closest of some, as long as none is close enough: an interrupt may come in between.
Attempt read_closely(int attempts, std::uint64_t close)
{
    Attempt closest = read_both();
    for (int i = 1; i < attempts && closest.doubt > close; ++i) {
        const Attempt attempt = read_both();
        closest = attempt.doubt < closest.doubt ? attempt : closest;
    }
    return closest;
}

}  // namespace

void start_ticks()
{
    int access = 0;
    if (prctl(PR_GET_TSC, &access) == 0 && access == PR_TSC_ENABLE) {
        usual_doubt = read_closely(10, 0).doubt;
        ticks_are_used = true;
    }
}

std::uint64_t lay_tick_line()
{
    return tick_line.lay(read_closely(4, 2 * usual_doubt).reading);
}

#else

void start_ticks() {}

std::uint64_t lay_tick_line()
{
    return nanoseconds(clock_id);
}

#endif

}  // namespace critpath::preload

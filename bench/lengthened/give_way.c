// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how ranks that wait leave the processors to others, for LD_PRELOAD: where an MPI library gives way because it
// has nothing to do, its thread sleeps for a moment. More ranks than processors then run without disturbing each other.
#include <time.h>

__attribute__((visibility("default"))) int sched_yield(void)
{
    const struct timespec moment = {0, 20000};
    nanosleep(&moment, 0);
    return 0;
}

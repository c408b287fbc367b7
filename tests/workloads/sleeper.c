// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// 1 rank, which is blocked in a function that has no samples: it comes between two others, and does nothing itself.
//
// A round: work_before 20 ms; waits_for_disk is blocked for 100 ms, by way of a function that has a frame pointer, and
// of one that has none; work_after 20 ms. Path: all of that.
#include "work.h"

#include <poll.h>

WORK(work_before)
WORK(work_after)

enum { rounds = 8 };

__attribute__((noipa, optimize("omit-frame-pointer"))) static int wait_in_poll(int ms)
{
    return 1 + poll(0, 0, ms);
}

__attribute__((noipa, optimize("no-omit-frame-pointer"))) static int wait_with_frame(int ms)
{
    volatile char local[200];
    local[ms] = 1;
    return local[ms] + poll(0, 0, ms / 2) + wait_in_poll(ms / 2);
}

void waits_for_disk(void);
__attribute__((noipa)) void waits_for_disk(void)
{
    volatile int waited = wait_with_frame(100);
    (void)waited;
}

int main(int argc, char** argv)
{
    start(&argc, &argv);
    for (int round = 0; round < rounds; ++round) {
        work_before(20);
        waits_for_disk();
        work_after(20);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

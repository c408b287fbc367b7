// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// Each rank gives way as fast as it can for a second of time, and then sleeps for 700 ms, which is longer than any
// respite. On one processor the ranks switch some hundred thousand times a second.
#include "work.h"

#include <sched.h>
#include <unistd.h>

int main(int argc, char** argv)
{
    start(&argc, &argv);
    const double end = MPI_Wtime() + 1;
    while (MPI_Wtime() < end)
        sched_yield();
    usleep(700000);
    MPI_Finalize();
    return 0;
}

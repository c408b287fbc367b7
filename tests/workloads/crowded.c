// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks. A sender waits for a receiver that is there in time, but shares its processor: crowded STEPS CPU
//
// In each step, rank 0 works 8 ms and sends 256 KiB, which no MPI takes before somebody receives them; rank 1 works
// 1 ms and waits for them. It runs on the processor CPU only, where the test lets others run, too.
// Path: rank 0 while it works, and rank 1 in MPI_Recv, from when it should have received until it has its processor
// back. Only a little is the messages'.
#define _GNU_SOURCE
#include "work.h"

#include <sched.h>
#include <stdlib.h>

WORK(work_sender)
WORK(work_receiver)

enum { large = 256 << 10 };
static char buffer[large];

int main(int argc, char** argv)
{
    const int rank = start_with(&argc, &argv, buffer, large);
    const int steps = argc > 1 ? atoi(argv[1]) : 100;
    if (rank == 1 && argc > 2) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(atoi(argv[2]), &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    for (int step = 0; step < steps; ++step) {
        if (rank == 0) {
            work_sender(8);
            MPI_Send(buffer, large, MPI_CHAR, 1, tag_data, MPI_COMM_WORLD);
        } else if (rank == 1) {
            work_receiver(1);
            MPI_Recv(buffer, large, MPI_CHAR, 0, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks, `rounds` times. Rank 1 works 20 ms and sends; rank 0 posts the receive, polls it where it is blocked for 2
// ms at a time, and works 5 ms. An Allreduce ends the round.
//
// read: rank 0 is blocked in read(2), for what a timer delivers, 20 times whatever it finds.
//       Path: rank 0, 45 ms a round.
// sleep: it sleeps for 0.5 ms until it has the message.
//       Path: rank 1 for 20 ms, rank 0 for 5 ms.
#include "work.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

WORK(work_beside)
WORK(work_after)

/// Reads when the timer has run for 2 ms.
static void read_late(int timer)
{
    const struct itimerspec in_two_ms = {{0, 0}, {0, 2000000}};
    uint64_t times;
    if (timerfd_settime(timer, 0, &in_two_ms, NULL) != 0 || read(timer, &times, sizeof times) != sizeof times)
        abort();
}

static void poll_blocked(int reads, int timer)
{
    int token, done = 0;
    MPI_Request request;
    MPI_Irecv(&token, 1, MPI_INT, 1, tag_data, MPI_COMM_WORLD, &request);
    for (int i = 0; reads ? i < 20 : !done; ++i) {
        if (reads)
            read_late(timer);
        else
            usleep(500);
        if (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    if (!done)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    const int rounds = atoi(argv[2]);
    const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    for (int round = 0; round < rounds; ++round) {
        int mine = 0, sum;
        if (rank == 0) {
            poll_blocked(strcmp(argv[1], "read") == 0, timer);
            work_after(5);
        } else {
            work_beside(20);
            send_token(0, tag_data);
        }
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    close(timer);
    MPI_Finalize();
    return 0;
}

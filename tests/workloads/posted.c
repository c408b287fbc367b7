// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// One rank computes beside what it has posted, and others wait until it is back in MPI, in each of 10 rounds.
//
// Argument 'send', 2 ranks: rank 1 posts a receive of 16 MiB and works 40 ms before it waits for that; rank 0 works
// 10 ms, sends, which takes until rank 1 is back, works 30 ms, and meets rank 1 in a barrier.
// 'allreduce', 3 ranks: all post an MPI_Iallreduce and wait for it, but rank 1 works 40 ms in between; rank 0 works
// 30 ms after that, and all meet in a barrier. Rank 2 may have its result before rank 1 is back.
// Path: rank 1 for 40 ms, rank 0 for 30 ms, in every round. work_early is not on it.
#include "work.h"

#include <stdio.h>
#include <string.h>

WORK(work_beside)
WORK(work_early)
WORK(work_after)

enum { large = 16 << 20, small = 500 };
static char buffer[large];

static void send_and_receive(int rank)
{
    if (rank == 0) {
        work_early(10);
        MPI_Send(buffer, large, MPI_CHAR, 1, tag_data, MPI_COMM_WORLD);
    } else {
        MPI_Request received;
        MPI_Irecv(buffer, large, MPI_CHAR, 0, tag_data, MPI_COMM_WORLD, &received);
        work_beside(40);
        MPI_Wait(&received, MPI_STATUS_IGNORE);
    }
}

static void reduce(int rank)
{
    static int mine[small], all[small];
    MPI_Request reduced;
    MPI_Iallreduce(mine, all, small, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &reduced);
    if (rank == 1)
        work_beside(40);
    MPI_Wait(&reduced, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
    const int rank = start_with(&argc, &argv, buffer, large);
    const int reduces = argc > 1 && strcmp(argv[1], "allreduce") == 0;
    if (!reduces && (argc < 2 || strcmp(argv[1], "send") != 0)) {
        fprintf(stderr, "usage: posted send|allreduce\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int round = 0; round < 10; ++round) {
        if (reduces)
            reduce(rank);
        else
            send_and_receive(rank);
        if (rank == 0)
            work_after(30);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

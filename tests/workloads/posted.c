// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// One rank computes beside what it has posted, and others wait until it is back in MPI, in each of 10 rounds.
//
// Argument 'send', 2 ranks: rank 1 posts a receive of 16 MiB and works 40 ms before it waits for that; rank 0 works
// 10 ms, sends, which takes until rank 1 is back, works 30 ms, and meets rank 1 in a barrier.
// 'allreduce', 3 ranks: all post an MPI_Iallreduce and wait for it, but rank 1 works 40 ms in between; rank 0 works
// 30 ms after that, and all meet in a barrier. Rank 2 may have its result before rank 1 is back.
// 'look', 3 ranks: likewise, but rank 1 looks at it with MPI_Test after 40 ms, which rank 0 waits for, and works 60 ms
// more before it waits; rank 0 works 150 ms.
// 'reduce', 3 ranks: rank 1 works 40 ms before it posts its part in an MPI_Ireduce; rank 0, the root, has posted it,
// and works 10 ms, in which it looks at it five times, before it waits for it; then it works 30 ms. Path: rank 1 for 40
// ms, rank 0 for 30 ms (or 150), in every round. work_early and work_behind are not on it.
#include "work.h"

#include <stdio.h>
#include <string.h>

WORK(work_beside)
WORK(work_early)
WORK(work_after)
WORK(work_behind)

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

static int mine[small], all[small];

static void allreduce(int rank, int looks)
{
    MPI_Request reduced;
    int done = 0;
    MPI_Iallreduce(mine, all, small, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &reduced);
    if (rank == 1)
        work_beside(40);
    if (rank == 1 && looks) {
        MPI_Test(&reduced, &done, MPI_STATUS_IGNORE);
        work_behind(60);
    }
    MPI_Wait(&reduced, MPI_STATUS_IGNORE);
}

static void reduce(int rank)
{
    MPI_Request reduced;
    int done = 0;
    if (rank == 1)
        work_beside(40);
    MPI_Ireduce(mine, all, small, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &reduced);
    for (int i = 0; rank == 0 && i < 5; ++i) {
        work_early(2);
        MPI_Test(&reduced, &done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&reduced, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
    const int rank = start_with(&argc, &argv, buffer, large);
    const char* const what = argc > 1 ? argv[1] : "";
    const int sends = strcmp(what, "send") == 0, looks = strcmp(what, "look") == 0;
    const int all_reduce = looks || strcmp(what, "allreduce") == 0;
    if (!sends && !all_reduce && strcmp(what, "reduce") != 0) {
        fprintf(stderr, "usage: posted send|allreduce|look|reduce\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int round = 0; round < 10; ++round) {
        if (sends)
            send_and_receive(rank);
        else if (all_reduce)
            allreduce(rank, looks);
        else
            reduce(rank);
        if (rank == 0)
            work_after(looks ? 150 : 30);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

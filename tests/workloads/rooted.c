// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 3 ranks. The root of MPI_Bcast and MPI_Reduce comes late or early.
//
// Arguments: 'bcast' or 'reduce', then 'late' or 'early', then perhaps 'persistent': collectives that were initialised
// before, and are started and waited for. Round k has root k mod 3; let next = root + 1 mod 3. A
// barrier ends each round.
//   bcast late     the root works 100 ms, the others 10 ms; after the broadcast, next works 50 ms.
//                  Path: root 100 ms, next 50 ms.
//   bcast early    next works 100 ms, the others 10 ms; the root does not wait, works 15 ms more after the broadcast.
//                  Path: next 100 ms.
//   reduce late    the root works 100 ms, the others 10 ms; they do not wait, and work 15 ms more after the reduction.
//                  Path: root 100 ms.
//   reduce early   next works 100 ms, the others 10 ms; after the reduction the root works 50 ms.
//                  Path: next 100 ms, root 50 ms.
// work_early (10 ms) and work_unseen (15 ms) are never on the path, not even where two ranks share a core (50 ms).
#include "work.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdio.h>
#include <string.h>
#if MPI_VERSION < 4
#include "../mpi_4.h"
#endif

WORK(work_late)
WORK(work_early)
WORK(work_after)
WORK(work_unseen)

static int value = 1, sum;

static void communicate(int bcast, int root, MPI_Request* persistent)
{
    if (persistent) {
        MPI_Start(persistent);
        MPI_Wait(persistent, MPI_STATUS_IGNORE);
    } else if (bcast) {
        MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    } else {
        MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    }
}

static void initialise(int bcast, MPI_Request* requests)
{
    for (int root = 0; root < 3; ++root)
        if (bcast)
            MPI_Bcast_init(&value, 1, MPI_INT, root, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[root]);
        else
            MPI_Reduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[root]);
}

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    const int is_persistent = argc == 4 && strcmp(argv[3], "persistent") == 0;
    if (argc != 3 && !is_persistent) {
        fprintf(stderr, "usage: rooted bcast|reduce late|early [persistent]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int bcast = strcmp(argv[1], "bcast") == 0;
    const int root_is_late = strcmp(argv[2], "late") == 0;
    const int waits = bcast == root_is_late;  // somebody waits in the collective itself
    MPI_Request requests[3];
    if (is_persistent)
        initialise(bcast, requests);
    for (int round = 0; round < 9; ++round) {
        const int root = round % 3;
        const int next = (root + 1) % 3;
        if (rank == (root_is_late ? root : next))
            work_late(100);
        else
            work_early(10);
        communicate(bcast, root, is_persistent ? &requests[root] : NULL);
        if (waits && rank == (bcast ? next : root))
            work_after(50);
        if (!waits && (rank == root) == bcast)
            work_unseen(15);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int root = 0; is_persistent && root < 3; ++root)
        MPI_Request_free(&requests[root]);
    MPI_Finalize();
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 3 ranks in a line: 0 and 2 have one neighbour, which is 1. Each round they exchange something with their neighbours,
// and a barrier ends it. The line is a grid, or with the argument "graph" a graph.
//
//   rank 0 works 100 ms before the exchange, the others 10 ms.
//   Behind it, rank 1 works 50 ms, and rank 2, which need not wait for rank 0, works 15 ms.
//
// Path: rank 0 100 ms, rank 1 50 ms. work_early and work_unseen are never on it.
#include "work.h"

#include <string.h>

WORK(work_late)
WORK(work_early)
WORK(work_after)
WORK(work_unseen)

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    const int length = 3, open_ended = 0, neighbours[2] = {rank == 1 ? 0 : 1, 2}, degree = rank == 1 ? 2 : 1;
    const int weights[2] = {1, 1};
    MPI_Comm line;
    if (argc > 1 && strcmp(argv[1], "graph") == 0)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, neighbours, weights, degree, neighbours, weights,
                                       MPI_INFO_NULL, 0, &line);
    else
        MPI_Cart_create(MPI_COMM_WORLD, 1, &length, &open_ended, 0, &line);
    for (int round = 0; round < 6; ++round) {
        if (rank == 0)
            work_late(100);
        else
            work_early(10);
        int value = rank, values[2] = {0, 0};
        MPI_Neighbor_allgather(&value, 1, MPI_INT, values, 1, MPI_INT, line);
        if (rank == 1)
            work_after(50);
        if (rank == 2)
            work_unseen(15);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&line);
    MPI_Finalize();
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// Any number of ranks in a ring. Iterations of a halo exchange (Irecv, Isend, Waitall with both neighbours) and, every
// tenth time, MPI_Allreduce: many short calls, for benchmarks and for odd numbers of ranks.
//
// Arguments: the number of iterations, and the microseconds of work in each (may be 0).
#include "work.h"

#include <stdlib.h>

WORK(work_halo)

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    const int iterations = argc > 1 ? atoi(argv[1]) : 100;
    const double microseconds = argc > 2 ? atof(argv[2]) : 0;
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int neighbours[2] = {(rank + size - 1) % size, (rank + 1) % size};
    double out[2][16] = {{0}}, in[2][16];
    for (int i = 0; i < iterations; ++i) {
        MPI_Request requests[4];
        for (int side = 0; side < 2; ++side)
            MPI_Irecv(in[side], 16, MPI_DOUBLE, neighbours[side], side, MPI_COMM_WORLD, &requests[side]);
        for (int side = 0; side < 2; ++side)
            MPI_Isend(out[side], 16, MPI_DOUBLE, neighbours[side], 1 - side, MPI_COMM_WORLD, &requests[2 + side]);
        if (microseconds > 0)
            work_halo(1e-3 * microseconds);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        if (i % 10 == 9) {
            double sum;
            MPI_Allreduce(&in[0][0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}

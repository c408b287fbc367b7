// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks with two threads of OpenMP each, and so many steps: uneven_team STEPS. In each, the first thread of a rank
// works 5 ms, and the second 5 ms, too, but 40 ms on rank 1, which waits for it; then the ranks meet in MPI_Allreduce.
//
// Path: rank 1, in a step: work_first 5 ms, then work_second of the other thread for the 35 ms that are left of it.
#include "work.h"

#include <omp.h>
#include <stdlib.h>

WORK(work_first)
WORK(work_second)

int main(int argc, char** argv)
{
    if (argc < 2)
        return 2;
    const int steps = atoi(argv[1]);
    const int rank = start(&argc, &argv);
    for (int step = 0; step < steps; ++step) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0)
                work_first(5);
            else
                work_second(rank == 1 ? 40 : 5);
        }
        int one = 1, sum;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

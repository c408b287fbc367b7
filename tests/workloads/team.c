// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 1 rank with two threads of OpenMP. In a round, the first works 20 ms and the second 100 ms in a loop that they share;
// the first waits for the second at its end, then works 30 ms alone.
//
// What has to become faster are the 100 ms, less the 20 ms in which both work, and the 30 ms: path: work_late 80 ms (in
// the 20 ms the path follows the first thread: work_early 20 ms), work_after 30 ms. Nothing of the waiting.
#include "work.h"

#include <omp.h>

WORK(work_late)
WORK(work_early)
WORK(work_after)

int main(int argc, char** argv)
{
    start(&argc, &argv);
    for (int round = 0; round < 8; ++round) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 0)
                work_early(20);
            else
                work_late(100);
        }
        work_after(30);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

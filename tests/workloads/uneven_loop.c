// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks smooth rows in so many steps, and meet in MPI_Allreduce behind each: uneven_loop STEPS
// On rank 1, two threads of OpenMP share 16 rows that take 60 ms together, (row + 1)^3 - row^3 in proportion: in
// halves, of which the first is an eighth of the work. Rank 0 does the first half, 7.5 ms, by one thread.
//
// Path: rank 1, in a step: smooth_rows for 52.5 ms, 7.5 of its first thread and then the second one, for which the
// first waits. The second thread has a processor of its own. Of two processors, rank 0 and the first thread share the
// other one, so that the first thread may be without one for 7.5 ms, or 15 ms if rank 0 polls then, and waits for so
// much less.
#define _GNU_SOURCE
#include "work.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>

enum { rows = 16 };

void smooth_rows(int end, int threads);
__attribute__((noinline)) void smooth_rows(int end, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int row = 0; row < end; ++row)
        use_processor(0.060 * (3 * row * row + 3 * row + 1) / (rows * rows * rows));
}

/// The last one of `set` for the second thread of rank 1, the one before for the first, and before that for rank 0.
static void choose_processor(const cpu_set_t* set, int from_last)
{
    int processor = 0;
    for (int i = CPU_SETSIZE - 1; i >= 0 && from_last >= 0; --i)
        if (CPU_ISSET(i, set)) {
            processor = i;
            --from_last;
        }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char** argv)
{
    if (argc < 2)
        return 2;
    const int steps = atoi(argv[1]);
    const int rank = start(&argc, &argv);
    const int threads = rank == 1 ? 2 : 1;
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
#pragma omp parallel num_threads(threads)
    choose_processor(&set, rank == 0 ? 2 : 1 - omp_get_thread_num());
    for (int step = 0; step < steps; ++step) {
        smooth_rows(rank == 1 ? rows : rows / 2, threads);
        int one = 1, sum;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

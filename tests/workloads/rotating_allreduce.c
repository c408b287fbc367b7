// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 3 ranks. Everyone waits in MPI_Allreduce for one slow rank, each round for another one: rotating_allreduce [SLOW]
//
// Round k: rank k mod 3, or always rank SLOW, works 100 ms, the others 20 ms, then MPI_Allreduce.
// Path: the slow rank of each round. work_fast is not on it.
#include "work.h"

#include <stdlib.h>

WORK(work_slow)
WORK(work_fast)

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    for (int round = 0; round < 9; ++round) {
        if ((argc > 1 ? atoi(argv[1]) : round % 3) == rank)
            work_slow(100);
        else
            work_fast(20);
        int one = 1, sum;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// 2 ranks. A few calls of each kind, for libraries that count them: a program, and a module (MODULE) that a program
// without MPI loads privately when it runs.
#include "see.h"

#include <sched.h>

#ifdef MODULE
int run(int argc, char** argv);
int run(int argc, char** argv)
#else
int main(int argc, char** argv)
#endif
{
    MPI_Request request;
    MPI_Comm copy;
    int got = -1, sum = -1;
    const char* preload = getenv("LD_PRELOAD");
    say("preloaded: %s", preload == NULL ? "nothing" : preload);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; ++i) {
        MPI_Isend(&rank, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &request);
        MPI_Recv(&got, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, copy);
    MPI_Comm_free(&copy);
    say("got %d, sum %d", got, sum);
    preload = getenv("LD_PRELOAD");
    say("preloaded: %s", preload == NULL ? "nothing" : preload);
    say("gave way: %d", sched_yield());
    MPI_Finalize();
    return 6;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// Any number of ranks take turns in working 5 ms; meanwhile the others wait in MPI_Allreduce, or ask whether an
// MPI_Iallreduce is complete. [rounds, default 200] [poll]
//
// Path: work of the rank whose turn it is. Where ranks share processors and give way while they wait, they switch some
// hundred thousand times a second there.
#include "work.h"

#include <stdlib.h>
#include <string.h>

WORK(work_in_turn)

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    const int rounds = argc > 1 ? atoi(argv[1]) : 200;
    const int polls = argc > 2 && strcmp(argv[2], "poll") == 0;
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < rounds; ++round) {
        if (round % ranks == rank)
            work_in_turn(5);
        int one = 1, sum;
        if (polls) {
            MPI_Request request;
            MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
            for (int done = 0; !done;)
                MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        } else {
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 3 ranks. Each round, ranks 0 and 1 make a communicator of the two, then an inter-communicator with rank 2. Only who
// is in the new one calls that, and waits for all the others in it. A barrier ends the round.
//
//   rank 0 works 100 ms before it makes the first one, the others 10 ms.
//   Before it makes the second one, rank 1 works 50 ms.
//   Behind that, rank 2 (in each other round rank 0, which has waited for its own side) works 50 ms.
//
// Path: rank 0 100 ms, rank 1 50 ms, rank 2 or 0 50 ms. work_early is never on it.
#include "work.h"

WORK(work_late)
WORK(work_early)
WORK(work_between)
WORK(work_after)

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    const int two[2] = {0, 1};
    MPI_Group all, some;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, two, &some);
    for (int round = 0; round < 6; ++round) {
        if (rank == 0)
            work_late(100);
        else
            work_early(10);
        MPI_Comm side = MPI_COMM_SELF, both;
        if (rank < 2)
            MPI_Comm_create_group(MPI_COMM_WORLD, some, 1, &side);
        if (rank == 1)
            work_between(50);
        MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 2, &both);
        if (rank == (round % 2 == 0 ? 2 : 0))
            work_after(50);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_free(&both);
        if (rank < 2)
            MPI_Comm_free(&side);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    MPI_Finalize();
    return 0;
}

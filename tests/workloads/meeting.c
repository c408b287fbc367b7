// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 3 ranks. Each round, ranks 0 and 1 accept and rank 2 connects: who comes waits for the other side.
//
//   In even rounds rank 2 works 100 ms before it connects, in odd ones rank 1 before it accepts; the others work 10 ms.
//   Then, over what they have got, all meet in MPI_Allreduce: rank 1 works 50 ms before that, in odd rounds rank 2.
//
// Path: rank 2 100 ms, rank 1 50 and 100 ms, rank 2 50 and 100 ms, and so on. work_early is never on it.
#include "work.h"

WORK(work_late)
WORK(work_early)
WORK(work_after)

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm side;
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : 1, rank, &side);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int round = 0; round < 4; ++round) {
        const int late = round % 2 == 0 ? 2 : 1;
        MPI_Comm both;
        int sum = 0;
        if (rank == late)
            work_late(100);
        else
            work_early(10);
        if (rank < 2)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, side, &both);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, side, &both);
        if (rank == 3 - late)
            work_after(50);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both);
        MPI_Comm_disconnect(&both);
    }
    if (rank == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&side);
    MPI_Finalize();
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks start a third process, which is not recorded. It sends a message to rank 0 after 200 ms, and meets both in a
// barrier: three operations whose partner is not in the trace. Rank 1 works 50 ms meanwhile.
#include "work.h"

#include <stdio.h>

WORK(work_meanwhile)
WORK(work_of_child)

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    int value = 0;
    MPI_Comm others;
    MPI_Comm_get_parent(&others);
    if (others != MPI_COMM_NULL) {
        work_of_child(200);
        MPI_Send(&value, 1, MPI_INT, 0, tag_data, others);
    } else {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
        if (rank == 0)
            MPI_Recv(&value, 1, MPI_INT, 0, tag_data, others, MPI_STATUS_IGNORE);
        else
            work_meanwhile(50);
    }
    MPI_Barrier(others);
    MPI_Comm_disconnect(&others);
    MPI_Finalize();
    return 0;
}

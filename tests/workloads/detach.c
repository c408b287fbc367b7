// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks. Each round, rank 0 sends a megabyte from an attached buffer, works 10 ms, and detaches the buffer: that
// waits until rank 1 has received the message, which works 100 ms before. Then rank 0 works 50 ms. A barrier ends the
// round.
//
// Path: rank 1 100 ms, rank 0 50 ms. work_early is never on it.
#include "work.h"

#include <stdlib.h>

WORK(work_late)
WORK(work_early)
WORK(work_after)

enum { bytes = 1 << 20, room = bytes + MPI_BSEND_OVERHEAD };

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    char* message = calloc(1, bytes);
    char* buffer = malloc(room);
    for (int round = 0; round < 6; ++round) {
        if (rank == 0) {
            void* detached;
            int size;
            MPI_Buffer_attach(buffer, room);
            MPI_Bsend(message, bytes, MPI_CHAR, 1, tag_data, MPI_COMM_WORLD);
            work_early(10);
            MPI_Buffer_detach(&detached, &size);
            work_after(50);
        } else {
            work_late(100);
            MPI_Recv(message, bytes, MPI_CHAR, 0, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(buffer);
    free(message);
    MPI_Finalize();
    return 0;
}

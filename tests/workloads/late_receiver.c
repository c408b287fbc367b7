// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks. A sender waits for a late receiver.
//
// Argument 'ssend': a synchronous send of 4 bytes. 'large': a standard send above the eager limit (4 MiB).
// A round: rank 0 works 25 ms and sends, but rank 1 works 100 ms before it receives (75 ms of waiting in the send).
// Then rank 0 works 50 ms and sends a short message, for which rank 1 waits.
// Path: rank 1 for 100 ms, rank 0 for 50 ms, in every round. work_early is not on it.
#include "work.h"

#include <stdio.h>
#include <string.h>

WORK(work_late)
WORK(work_early)
WORK(work_after)

enum { large = 4 << 20 };
static char buffer[large];

int main(int argc, char** argv)
{
    const int rank = start_with(&argc, &argv, buffer, large);
    const int synchronous = argc > 1 && strcmp(argv[1], "ssend") == 0;
    if (!synchronous && (argc < 2 || strcmp(argv[1], "large") != 0)) {
        fprintf(stderr, "usage: late_receiver ssend|large\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int bytes = synchronous ? 4 : large;
    for (int round = 0; round < 8; ++round) {
        if (rank == 0) {
            work_early(25);
            if (synchronous)
                MPI_Ssend(buffer, bytes, MPI_CHAR, 1, tag_data, MPI_COMM_WORLD);
            else
                MPI_Send(buffer, bytes, MPI_CHAR, 1, tag_data, MPI_COMM_WORLD);
            work_after(50);
            send_token(1, tag_reply);
        } else {
            work_late(100);
            MPI_Recv(buffer, bytes, MPI_CHAR, 0, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            receive_token(0, tag_reply);
        }
    }
    MPI_Finalize();
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 3 ranks. MPI_Waitany: the first completion releases the call, whatever the other requests do.
//
// A round: one sender works 60 ms, the other one 160 ms (the quick one changes: 1, 2, 1, ...). Rank 0 waits for any
// message; when the quick one has come, it works 250 ms, which is longer than the slow sender needs; so the second wait
// is none. It then starts the next round with a message to both.
// Path: the quick sender for 60 ms, rank 0 for 250 ms, in every round. work_slow is not on it.
#include "work.h"

WORK(work_quick)
WORK(work_slow)
WORK(work_first)

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    for (int round = 0; round < 4; ++round) {
        const int quick = 1 + round % 2;
        if (rank == 0) {
            int values[2], index;
            MPI_Request requests[2];
            for (int i = 0; i < 2; ++i)
                MPI_Irecv(&values[i], 1, MPI_INT, 1 + i, tag_data, MPI_COMM_WORLD, &requests[i]);
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
            work_first(250);
            MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
            send_token(1, tag_reply);
            send_token(2, tag_reply);
        } else {
            if (rank == quick)
                work_quick(60);
            else
                work_slow(160);
            send_token(0, tag_data);
            receive_token(0, tag_reply);
        }
    }
    MPI_Finalize();
    return 0;
}

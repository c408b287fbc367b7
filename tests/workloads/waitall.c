// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 3 ranks. MPI_Waitall over two receives, one of whose senders is late.
//
// A round: rank 0 posts both receives, works 20 ms and waits for both; one of the senders works 100 ms, the other one
// 25 ms (the late one changes: 1, 2, 1, ...). Rank 0 then works 50 ms and starts the next round with a message to both.
// Path: the late sender for 100 ms, rank 0 for 50 ms, in every round. work_early and work_posted are not on it.
#include "work.h"

WORK(work_late)
WORK(work_early)
WORK(work_posted)
WORK(work_after)

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    for (int round = 0; round < 6; ++round) {
        const int late = 1 + round % 2;
        if (rank == 0) {
            int values[2];
            MPI_Request requests[2];
            for (int i = 0; i < 2; ++i)
                MPI_Irecv(&values[i], 1, MPI_INT, 1 + i, tag_data, MPI_COMM_WORLD, &requests[i]);
            work_posted(20);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            work_after(50);
            send_token(1, tag_reply);
            send_token(2, tag_reply);
        } else {
            if (rank == late)
                work_late(100);
            else
                work_early(25);
            send_token(0, tag_data);
            receive_token(0, tag_reply);
        }
    }
    MPI_Finalize();
    return 0;
}

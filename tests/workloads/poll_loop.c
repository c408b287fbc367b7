// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks. As late_sender, but the waiting rank polls: MPI_Test in a loop on even rounds, MPI_Iprobe on odd ones.
//
// A round: rank 0 works 100 ms and sends; rank 1 works 25 ms, polls (75 ms of hidden waiting), works 50 ms, answers.
// Path: rank 0 for 100 ms, rank 1 for 50 ms, in every round. work_early and the polling are not on it.
#include "work.h"

WORK(work_late)
WORK(work_early)
WORK(work_after)

static void poll_request(void)
{
    int token, done = 0;
    MPI_Request request;
    MPI_Irecv(&token, 1, MPI_INT, 0, tag_data, MPI_COMM_WORLD, &request);
    work_early(25);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void poll_envelope(void)
{
    int found = 0;
    work_early(25);
    while (!found)
        MPI_Iprobe(0, tag_data, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    receive_token(0, tag_data);
}

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    for (int round = 0; round < 8; ++round) {
        if (rank == 0) {
            work_late(100);
            send_token(1, tag_data);
            receive_token(1, tag_reply);
        } else {
            if (round % 2 == 0)
                poll_request();
            else
                poll_envelope();
            work_after(50);
            send_token(0, tag_reply);
        }
    }
    MPI_Finalize();
    return 0;
}

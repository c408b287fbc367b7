// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks. As late_sender, but the waiting rank polls: in turn MPI_Test in a loop, MPI_Iprobe, MPI_Test with a sleep
// each time, and MPI_Fetch_and_op on a counter that the other rank raises.
//
// A round: rank 0 works 100 ms and sends; rank 1 works 25 ms, polls (75 ms of hidden waiting), works 50 ms, answers.
// Path: rank 0 for 100 ms, rank 1 for 50 ms, in every round. work_early and the polling are not on it.
#include "work.h"

#include <unistd.h>

WORK(work_late)
WORK(work_early)
WORK(work_after)

static MPI_Win window;

static void poll_request(int sleeps)
{
    int token, done = 0;
    MPI_Request request;
    MPI_Irecv(&token, 1, MPI_INT, 0, tag_data, MPI_COMM_WORLD, &request);
    work_early(25);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done && sleeps)
            usleep(200);
    }
}

static void poll_envelope(void)
{
    int found = 0;
    work_early(25);
    while (!found)
        MPI_Iprobe(0, tag_data, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    receive_token(0, tag_data);
}

static void raise_counter(void)
{
    const int one = 1;
    MPI_Accumulate(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_flush(1, window);
}

static void poll_counter(int until)
{
    int found = 0, ignored = 0;
    work_early(25);
    while (found < until) {
        MPI_Fetch_and_op(&ignored, &found, MPI_INT, 1, 0, MPI_NO_OP, window);
        MPI_Win_flush(1, window);
    }
}

static void answer_late(int round)
{
    switch (round % 4) {
    case 0:
    case 2:
        poll_request(round % 4 == 2);
        break;
    case 1:
        poll_envelope();
        break;
    default:
        poll_counter(1 + round / 4);
        break;
    }
    work_after(50);
    send_token(0, tag_reply);
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int rank = 0, *counter = NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
    *counter = 0;
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 8; ++round) {
        if (rank == 1) {
            answer_late(round);
            continue;
        }
        work_late(100);
        if (round % 4 == 3)
            raise_counter();
        else
            send_token(1, tag_data);
        receive_token(1, tag_reply);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

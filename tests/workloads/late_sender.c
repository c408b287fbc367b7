// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks. A receiver waits for a late sender, and the answer makes the other wait in turn.
//
// A round: rank 0 works 100 ms and sends; rank 1 works 25 ms, receives (75 ms of waiting), works 50 ms, answers.
// Path: rank 0 for 100 ms, rank 1 for 50 ms, in every round. work_early is not on it.
#include "work.h"

WORK(work_late)
WORK(work_early)
WORK(work_after)

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    for (int round = 0; round < 8; ++round) {
        if (rank == 0) {
            work_late(100);
            send_token(1, tag_data);
            receive_token(1, tag_reply);
        } else {
            work_early(25);
            receive_token(0, tag_data);
            work_after(50);
            send_token(0, tag_reply);
        }
    }
    MPI_Finalize();
    return 0;
}

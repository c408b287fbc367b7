// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 3 ranks. A pipeline whose middle stage is the slowest: it alone decides, after the first item has come and before
// the last one leaves.
//
// 8 items; the first and the last stage take 40 ms an item, the middle one 100 ms.
// Path: rank 0 for 40 ms (the first item), rank 1 for 800 ms, rank 2 for 40 ms (the last item).
#include "work.h"

WORK(work_first)
WORK(work_middle)
WORK(work_last)

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    for (int item = 0; item < 8; ++item) {
        if (rank == 0) {
            work_first(40);
            send_token(1, tag_data);
        } else if (rank == 1) {
            receive_token(0, tag_data);
            work_middle(100);
            send_token(2, tag_data);
        } else {
            receive_token(1, tag_data);
            work_last(40);
        }
    }
    MPI_Finalize();
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks that share memory. In round k of 4, rank a = k mod 2 works 100 ms and stores the number of the round; the
// other one works 30 ms and looks for it, with MPI_Win_sync between its looks. It mostly sees it before MPI_Win_sync of
// the one that has stored it.
// Path: rank a of each round for 100 ms. work_early is not on it.
#include "work.h"

WORK(work_late)
WORK(work_early)

enum { late = 100, early = 30, rounds = 4 };

int main(int argc, char** argv)
{
    int rank, unit;
    MPI_Aint size;
    MPI_Win window;
    volatile int* number;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&number, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, (void*)&number);
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 1; round <= rounds; ++round) {
        if (rank == (round + 1) % 2) {
            work_late(late);
            *number = round;
            MPI_Win_sync(window);
        } else {
            work_early(early);
            while (*number != round) {
                for (volatile int pause = 0; pause < 500; ++pause) {
                }
                MPI_Win_sync(window);
            }
        }
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

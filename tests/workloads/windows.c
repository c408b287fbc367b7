// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 3 ranks. One-sided communication: what ends an epoch of one rank holds up another, in 8 rounds that end in barriers.
//
// Round k is about rank a = k mod 2 and rank b = 1 - a; rank 2 works 30 ms (work_early). Rounds
//   0, 1  a works 100 ms and posts; b starts an access epoch, puts, completes, and works 50 ms.
//   2, 3  a starts an epoch, puts, works 100 ms and completes; b has posted, waits, and works 50 ms.
//   4, 5  a locks the memory of rank 2, works 100 ms, puts and unlocks; b, which began after a had the lock, locks,
//   puts,
//         unlocks, and works 50 ms.
//   6, 7  a works 100 ms, the others 30 ms, all meet in a fence; then b works 50 ms.
// Path: a for 100 ms, b for 50 ms, in every round. work_early is not on it.
#include "work.h"

WORK(work_late)
WORK(work_early)
WORK(work_after)

enum { late = 100, after = 50, early = 30 };

static MPI_Win window;
static int rank;
static int memory, value = 1;

static void with_group(int (*begin)(MPI_Group, int, MPI_Win), int other)
{
    MPI_Group all, one;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &other, &one);
    begin(one, 0, window);
    MPI_Group_free(&one);
    MPI_Group_free(&all);
}

static void put(int target)
{
    MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window);
}

static void late_post(int a, int b)
{
    if (rank == a) {
        work_late(late);
        with_group(MPI_Win_post, b);
        MPI_Win_wait(window);
    } else if (rank == b) {
        with_group(MPI_Win_start, a);
        put(a);
        MPI_Win_complete(window);
        work_after(after);
    } else {
        work_early(early);
    }
}

static void late_complete(int a, int b)
{
    if (rank == a) {
        with_group(MPI_Win_start, b);
        put(b);
        work_late(late);
        MPI_Win_complete(window);
    } else if (rank == b) {
        with_group(MPI_Win_post, a);
        MPI_Win_wait(window);
        work_after(after);
    } else {
        work_early(early);
    }
}

static void held_lock(int a, int b)
{
    if (rank == a) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
        MPI_Barrier(MPI_COMM_WORLD);
        work_late(late);
        put(2);
        MPI_Win_unlock(2, window);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == b) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
            put(2);
            MPI_Win_unlock(2, window);
            work_after(after);
        } else {
            work_early(early);
        }
    }
}

static void late_fence(int a, int b)
{
    if (rank == a)
        work_late(late);
    else
        work_early(early);
    MPI_Win_fence(0, window);
    if (rank == b)
        work_after(after);
}

int main(int argc, char** argv)
{
    rank = start(&argc, &argv);
    void (*const kinds[])(int, int) = {late_post, late_complete, held_lock, late_fence};
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int k = 0; k < 8; ++k) {
        kinds[k / 2](k % 2, 1 - k % 2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}

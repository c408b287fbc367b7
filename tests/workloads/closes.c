// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// Any number of ranks: closes [take]. Rank 0 works 100 ms, closes all descriptors from 500 on as daemons do, which it
// has not opened, and works 300 ms more; the others wait. With `take` a file of its own stands in the place of each
// that was closed; at the end it says how many there were, how many still are, and how much somebody wrote.
//
// Path: rank 0.
#include "work.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

WORK(work_before)
WORK(work_after)

enum { first = 500, last = 8192 };

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    if (rank == 0) {
        FILE* const theirs = argc > 1 && strcmp(argv[1], "take") == 0 ? tmpfile() : NULL;
        int taken = 0, left = 0;
        work_before(100);
        for (int fd = first; fd < last; ++fd)
            if (close(fd) == 0 && theirs != NULL)
                taken += dup2(fileno(theirs), fd) == fd;
        work_after(300);
        struct stat status, own;
        if (theirs != NULL && fstat(fileno(theirs), &own) == 0) {
            for (int fd = first; fd < last; ++fd)
                left += fstat(fd, &status) == 0 && status.st_ino == own.st_ino && status.st_dev == own.st_dev;
            printf("taken %d, left %d, written %ld\n", taken, left, (long)own.st_size);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

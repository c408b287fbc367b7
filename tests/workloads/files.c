// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 3 ranks and one file, in a directory that is given. Whoever comes late to a collective operation on it holds up the
// others, who have worked 30 ms (work_early) where nothing else is said:
//   rank 1 works 200 ms before the file is opened (work_before_open),
//   rank 2 works 100 ms before each of 5 collective writes (work_before_write), rank 1 not at all,
//   rank 0 works 150 ms before a write in the order of ranks, and rank 1 and 2 wait for it (work_before_ordered),
//   rank 1 works 120 ms before another one, which is split, and rank 2 waits for it (work_before_split); behind that,
//   rank 2 works 60 ms (work_after_split).
// Path: 1, 2, 0, 1, 2, for these times.
#include "work.h"

#include <stdio.h>

WORK(work_before_open)
WORK(work_before_write)
WORK(work_before_ordered)
WORK(work_before_split)
WORK(work_after_split)
WORK(work_early)

int main(int argc, char** argv)
{
    const int rank = start(&argc, &argv);
    char name[4096];
    snprintf(name, sizeof name, "%s/critpath-files", argc > 1 ? argv[1] : ".");
    char bytes[64] = {0};

    if (rank == 1)
        work_before_open(200);
    else
        work_early(30);
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    for (int i = 0; i < 5; ++i) {
        if (rank == 2)
            work_before_write(100);
        else if (rank == 0)
            work_early(30);
        MPI_File_write_at_all(file, (MPI_Offset)sizeof bytes * (3 * i + rank), bytes, sizeof bytes, MPI_BYTE,
                              MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        work_before_ordered(150);
    MPI_File_write_ordered(file, bytes, sizeof bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    if (rank == 1)
        work_before_split(120);
    MPI_File_write_ordered_begin(file, bytes, sizeof bytes, MPI_BYTE);
    MPI_File_write_ordered_end(file, bytes, MPI_STATUS_IGNORE);
    if (rank == 2)
        work_after_split(60);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}

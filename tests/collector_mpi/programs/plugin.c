/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a few MPI calls whose results are printed: as a library for dlopened.c, or as a program (with -DPROGRAM). */
#include <mpi.h>

#include <stdio.h>

int run(void)
{
    int rank = -1, size = -1, received = -1;
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Status status;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 7, &received, 1, MPI_INT, previous, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    MPI_Comm_free(&half);
    printf("%s %d of %d: %d from %d with %d, sum %d\n", name, rank, size, received, status.MPI_SOURCE, status.MPI_TAG,
           sum);
    MPI_Finalize();
    return 6;
}

#ifdef PROGRAM
int main(void)
{
    return run();
}
#endif

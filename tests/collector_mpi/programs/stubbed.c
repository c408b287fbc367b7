/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a program that is linked to stub.c in place of an MPI library. */
#include <stdio.h>

int MPI_Init(int* argc, char*** argv);
int MPI_Allreduce(const void* from, void* to, int count, int type, int op, int comm);
int MPI_Finalize(void);

int main(int argc, char** argv)
{
    const int from = 42;
    int to = 0;
    const int init = MPI_Init(&argc, &argv);
    const int good = MPI_Allreduce(&from, &to, 1, 1, 0, 0), bad = MPI_Allreduce(&from, &to, 1, 2, 0, 0);
    printf("%d %d %d %d %d\n", init, good, bad, to, MPI_Finalize());
    return 9;
}

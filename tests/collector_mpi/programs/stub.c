/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns a library that some programs bring to run without MPI: a few MPI functions for one process, with handles and
 * error codes of its own, and no PMPI names. */
int MPI_Init(int* argc, char*** argv);
int MPI_Allreduce(const void* from, void* to, int count, int type, int op, int comm);
int MPI_Finalize(void);

int MPI_Init(int* argc, char*** argv)
{
    return argc != 0 && argv != 0 ? 0 : 3;
}

int MPI_Allreduce(const void* from, void* to, int count, int type, int op, int comm)
{
    (void)op;
    for (int i = 0; i < count; ++i) {
        ((int*)to)[i] = ((const int*)from)[i];
    }
    return comm == 0 && type == 1 ? 0 : 4;
}

int MPI_Finalize(void)
{
    return 11;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Another library that stands before MPI, by the profiling interface: it counts the calls of the application. Says its
// name (INTERPOSER) when it is loaded and when it ends.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static int inits, sends, receives, waits, all_reductions, duplicates, splits, groups;

__attribute__((constructor)) static void load(void)
{
    puts(INTERPOSER " is loaded");
}

int MPI_Init(int* argc, char*** argv)
{
    ++inits;
    return PMPI_Init(argc, argv);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request)
{
    ++sends;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status)
{
    ++receives;
    return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status)
{
    ++waits;
    return PMPI_Wait(request, status);
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    ++all_reductions;
    return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy)
{
    ++duplicates;
    return PMPI_Comm_dup(comm, copy);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part)
{
    ++splits;
    return PMPI_Comm_split(comm, color, key, part);
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group* group)
{
    ++groups;
    return PMPI_Comm_group(comm, group);
}

int MPI_Finalize(void)
{
    printf(INTERPOSER " has seen: init %d isend %d recv %d wait %d allreduce %d dup %d split %d group %d\n", inits,
           sends, receives, waits, all_reductions, duplicates, splits, groups);
    return PMPI_Finalize();
}

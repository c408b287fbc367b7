/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the count of what the collector makes in MPI and frees: the loader finds the PMPI functions of a program before
 * those of the MPI library. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>

static int made, communicators, groups;

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm)
{
    int (*split)(MPI_Comm, int, int, MPI_Comm*) = dlsym(RTLD_NEXT, "PMPI_Comm_split");
    ++made;
    ++communicators;
    return split(comm, color, key, newcomm);
}

int PMPI_Comm_free(MPI_Comm* comm)
{
    int (*free_it)(MPI_Comm*) = dlsym(RTLD_NEXT, "PMPI_Comm_free");
    --communicators;
    return free_it(comm);
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group)
{
    int (*group_of)(MPI_Comm, MPI_Group*) = dlsym(RTLD_NEXT, "PMPI_Comm_group");
    ++groups;
    return group_of(comm, group);
}

int PMPI_Group_free(MPI_Group* group)
{
    int (*free_it)(MPI_Group*) = dlsym(RTLD_NEXT, "PMPI_Group_free");
    --groups;
    return free_it(group);
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    printf("made %d communicator, left %d and %d groups\n", made, communicators, groups);
    return 0;
}

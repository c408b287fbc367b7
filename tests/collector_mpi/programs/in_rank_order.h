/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the output of a test program, rank by rank, so that two runs can be compared. Only PMPI is called: the collector
 * does not see it. */
#ifndef CRITPATH_TESTS_IN_RANK_ORDER_H
#define CRITPATH_TESTS_IN_RANK_ORDER_H

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static FILE* real_stdout;
static char* collected;
static size_t collected_size;

/* From now on, what is printed is kept. */
static void collect_output(void)
{
    real_stdout = stdout;
    stdout = open_memstream(&collected, &collected_size);
}

/* Prints it, on rank 0. Collective over MPI_COMM_WORLD. */
static void print_in_rank_order(void)
{
    int rank, size;
    fclose(stdout);
    stdout = real_stdout;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != 0) {
        PMPI_Send(collected, (int)collected_size, MPI_CHAR, 0, 4711, MPI_COMM_WORLD);
    } else {
        fwrite(collected, 1, collected_size, stdout);
    }
    for (int source = 1; rank == 0 && source < size; ++source) {
        MPI_Status status;
        int bytes;
        PMPI_Probe(source, 4711, MPI_COMM_WORLD, &status);
        PMPI_Get_count(&status, MPI_CHAR, &bytes);
        char* text = malloc((size_t)bytes + 1);
        PMPI_Recv(text, bytes, MPI_CHAR, source, 4711, MPI_COMM_WORLD, &status);
        fwrite(text, 1, (size_t)bytes, stdout);
        free(text);
    }
    free(collected);
}

#endif

/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns what programs of one function a case have in common: the case that the first argument names is run between
 * MPI_Init and MPI_Finalize. Included by one source file a program. */
#pragma once

#include <mpi.h>

#include <stdio.h>
#include <string.h>

#define WORLD MPI_COMM_WORLD
static int rank, size;

struct Case {
    const char* name;
    void (*run)(void);
};

static inline void check(int good, const char* what)
{
    if (!good) {
        printf("rank %d: failed: %s\n", rank, what);
        fflush(stdout);
        MPI_Abort(WORLD, 9);
    }
}
#define CHECK(condition) check(condition, #condition)

#ifdef LARGE_COUNTS
typedef MPI_Count count_t; /* as large as MPI_Aint */
typedef MPI_Count external_t;
_Static_assert(sizeof(MPI_Count) == sizeof(MPI_Aint), "one array for both");
#else
typedef int count_t;
typedef MPI_Aint external_t; /* of functions like MPI_Pack_external */
#endif

/* One number a rank, as counts or as displacements; the next fifteen calls leave it alone. */
static inline void* counts_of(int a, int b, int c, int d)
{
    static count_t pool[16][4];
    static int next;
    count_t* counts = pool[next++ % 16];
    counts[0] = a, counts[1] = b, counts[2] = c, counts[3] = d;
    return counts;
}

/* The exit code of the program: 2 if there is no such case. */
static inline int run_cases(int argc, char** argv, const struct Case* cases, size_t count, int level)
{
    int provided = level;
    while (argc > 1 && count > 0 && strcmp(argv[1], cases->name) != 0) {
        ++cases, --count;
    }
    if (argc < 2 || count == 0) {
        fprintf(stderr, "unknown case\n");
        return 2;
    }
    if (level == MPI_THREAD_SINGLE) {
        MPI_Init(&argc, &argv);
    } else {
        MPI_Init_thread(&argc, &argv, level, &provided);
    }
    CHECK(provided >= level);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    cases->run();
    MPI_Finalize();
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a workload works: named functions that use a given amount of processor time.
//
// The amount is processor time of the thread, not elapsed time, so that a function's share of the samples is a
// formula even where ranks compete for cores. What the others do meanwhile is waiting in MPI.
#pragma once

#include <mpi.h>

#include <time.h>

static inline double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Always inlined: the samples belong to the function that calls it.
__attribute__((always_inline)) static inline void use_processor(double seconds)
{
    const double end = thread_seconds() + seconds;
    volatile double sink = 1.0;
    do {
        double x = sink;
        for (int i = 0; i < 20000; ++i)
            x = x * 0.999999 + 1e-6;
        sink = x;
    } while (thread_seconds() < end);
}

#ifdef __clang__
#define IN_ITS_OWN_FUNCTION __attribute__((noinline))
#else
#define IN_ITS_OWN_FUNCTION __attribute__((noipa))
#endif

/// Defines `void name(double milliseconds)`, a function of its own in the symbol table.
#define WORK(name)                                                                                                     \
    void name(double milliseconds);                                                                                    \
    IN_ITS_OWN_FUNCTION void name(double milliseconds)                                                                 \
    {                                                                                                                  \
        use_processor(1e-3 * milliseconds);                                                                            \
    }

enum { tag_data = 1, tag_reply = 2, tag_stop = 3 };

/// MPI_Init, a message of so many bytes from rank 0 to rank 1, if any (the first of its size takes longer than others:
/// pages are touched, connections made), and a barrier from which the measured part begins: the harness ignores what is
/// before it.
static inline int start_with(int* argc, char*** argv, char* buffer, int bytes)
{
    int rank;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (bytes > 0 && rank == 0)
        MPI_Send(buffer, bytes, MPI_CHAR, 1, tag_data, MPI_COMM_WORLD);
    if (bytes > 0 && rank == 1)
        MPI_Recv(buffer, bytes, MPI_CHAR, 0, tag_data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    return rank;
}

static inline int start(int* argc, char*** argv)
{
    return start_with(argc, argv, NULL, 0);
}

static inline void send_token(int to, int tag)
{
    int token = tag;
    MPI_Send(&token, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

static inline int receive_token(int from, int tag)
{
    int token;
    MPI_Status status;
    MPI_Recv(&token, 1, MPI_INT, from, tag, MPI_COMM_WORLD, &status);
    return status.MPI_SOURCE;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What it costs to begin and to end a thread: `threads N [MS]` makes N threads, one after the other, that compute for
// MS ms (default: 3), and prints the medians of what lies between the creation of a thread and its first instruction,
// and between its last one and the return of pthread_join, in us. To be run with cpcollect and without.
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double begun, ended;  // us
static double length;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static void* work(void* unused)
{
    begun = now();
    while (now() < begun + length) {
    }
    ended = now();
    return unused;
}

static int compare(const void* a, const void* b)
{
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

int main(int argc, char** argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    const int count = argc > 1 ? atoi(argv[1]) : 200;
    length = 1000 * (argc > 2 ? atof(argv[2]) : 3);
    double* before = calloc((size_t)count + 1, sizeof *before);
    double* behind = calloc((size_t)count + 1, sizeof *behind);
    for (int i = 0; i < count; ++i) {
        pthread_t thread;
        const double created = now();
        if (pthread_create(&thread, NULL, work, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
        behind[i] = now() - ended;
        before[i] = begun - created;
    }
    qsort(before, (size_t)count, sizeof *before, compare);
    qsort(behind, (size_t)count, sizeof *behind, compare);
    printf("{\"threads\": %d, \"us before\": %.1f, \"us behind\": %.1f}\n", count, before[count / 2],
           behind[count / 2]);
    free(before);
    free(behind);
    MPI_Finalize();
    return 0;
}

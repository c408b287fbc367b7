// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// 1 rank, which sleeps on a processor that others may have when it wants to go on: woken ROUNDS CPU
//
// In each round it works for 2 ms and sleeps for 10 ms; on the processor CPU only, where the test lets others run, too.
// Path: all of that. What a sleep takes beyond its time is for the others. Prints, in ns, how long the sleeps should
// have been and how long they were, and what the kernel has counted meanwhile of the thread's waits for a processor.
#define _GNU_SOURCE
#include "work.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

WORK(works)

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static long long run_delay(void)
{
    long long ran, waited = 0;
    FILE* file = fopen("/proc/thread-self/schedstat", "r");
    if (file != NULL && fscanf(file, "%lld %lld", &ran, &waited) != 2)
        waited = 0;
    if (file != NULL)
        fclose(file);
    return waited;
}

void sleeps(void);
IN_ITS_OWN_FUNCTION void sleeps(void)
{
    const struct timespec time = {0, 10000000};
    nanosleep(&time, NULL);
}

int main(int argc, char** argv)
{
    start(&argc, &argv);
    const int rounds = argc > 1 ? atoi(argv[1]) : 100;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(argc > 2 ? atoi(argv[2]) : 0, &set);
    sched_setaffinity(0, sizeof set, &set);
    const long long before = run_delay();
    long long slept = 0;
    for (int round = 0; round < rounds; ++round) {
        works(2);
        const long long begin = now();
        sleeps();
        slept += now() - begin;
    }
    const long long waited = run_delay() - before;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    printf("%lld %lld %lld\n", rounds * 10000000LL, slept, waited);
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns work between MPI calls whose counts are known, on every rank; prints what the spool cannot know.
//
// usage: counters CASE
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef WITH_PAPI
#include <papi.h>
#endif

static void touch(size_t pages)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char* memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; ++i)
        memory[i * page] = 1;
    munmap(memory, pages * page);
}

// Between the i-th and the next barrier: 100 * (i + 1) pages.
static void* faults(void* unused)
{
    for (size_t i = 0; i < 5; ++i) {
        MPI_Barrier(MPI_COMM_SELF);
        touch(100 * (i + 1));
    }
    MPI_Barrier(MPI_COMM_SELF);
    return unused;
}

static void spin(double seconds)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
}

// 20 ms of the processor's time, then 20 ms without.
static void task_clock(void)
{
    MPI_Barrier(MPI_COMM_SELF);
    spin(0.02);
    MPI_Barrier(MPI_COMM_SELF);
    usleep(20000);
    MPI_Barrier(MPI_COMM_SELF);
}

static void threads(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, faults, NULL);
    pthread_join(thread, NULL);
    MPI_Barrier(MPI_COMM_SELF);
}

// 300 pages before the run of polls, many polls, a success.
static void polls(void)
{
    MPI_Request request;
    int in, out = 1, done = 0;
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    touch(300);
    for (int i = 0; i < 1000; ++i)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

// The application's own use of PAPI, if it was built with it.
static void papi(void)
{
#ifdef WITH_PAPI
    int events = PAPI_NULL;
    long long before, after;
    int error = PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT;
    error |= PAPI_create_eventset(&events) | PAPI_add_named_event(events, "perf::PAGE-FAULTS") | PAPI_start(events);
    error |= PAPI_read(events, &before);
    touch(200);
    error |= PAPI_read(events, &after);
    printf("papi %d %lld\n", error, after - before);
#endif
    faults(NULL);
}

// What the counters must leave alone: one line a signal that has a handler.
static void signals(void)
{
    for (int number = 1; number < 65; ++number) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
            printf("signal %d\n", number);
    }
    MPI_Barrier(MPI_COMM_SELF);
}

int main(int argc, char** argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    const char* name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "faults") == 0)
        faults(NULL);
    else if (strcmp(name, "task_clock") == 0)
        task_clock();
    else if (strcmp(name, "threads") == 0)
        threads();
    else if (strcmp(name, "polls") == 0)
        polls();
    else if (strcmp(name, "papi") == 0)
        papi();
    else if (strcmp(name, "signals") == 0)
        signals();
    MPI_Finalize();
    return 0;
}

/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the calls of completions_test.py: what Wait and Test calls merge, and what they cost. */
#define _GNU_SOURCE
#include "cases.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { rounds = 100, open_requests = 20000 };

static MPI_Request never[2];

static void begin_never(void)
{
    static int buffer[2];
    for (int i = 0; i < 2; ++i) {
        MPI_Irecv(&buffer[i], 1, MPI_INT, 0, 99, MPI_COMM_SELF, &never[i]);
    }
}

static void end_never(void)
{
    for (int i = 0; i < 2; ++i) {
        MPI_Cancel(&never[i]);
        MPI_Wait(&never[i], MPI_STATUS_IGNORE);
    }
}

__attribute__((noinline)) static void poll_here(MPI_Request* request)
{
    int flag = 1;
    MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
}

__attribute__((noinline)) static void poll_there(MPI_Request* request)
{
    int flag = 2;
    MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
}

/* Two polls a round, and a call between the rounds. */
static void poll_in_rounds(void (*first)(MPI_Request*), void (*second)(MPI_Request*), int other)
{
    begin_never();
    for (int i = 0; i < rounds; ++i) {
        MPI_Barrier(MPI_COMM_SELF);
        first(&never[0]);
        second(&never[other]);
    }
    end_never();
}

static void same_question(void)
{
    poll_in_rounds(poll_here, poll_here, 0);
}

static void two_places(void)
{
    poll_in_rounds(poll_here, poll_there, 0);
}

static void two_requests(void)
{
    poll_in_rounds(poll_here, poll_here, 1);
}

/* Of the processor, for so many ns at the least. */
static void work(long least)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < least);
}

static void work_between(void)
{
    begin_never();
    for (int i = 0; i < 10 * rounds; ++i) {
        poll_here(&never[0]);
        work(2000);
    }
    end_never();
}

static void work_between_turns(void)
{
    begin_never();
    for (int i = 0; i < 10 * rounds; ++i) {
        poll_here(&never[i % 2]);
        work(2000);
    }
    end_never();
}

/* Mappings that the collector has made. */
static int mappings;

/* In place of that of the C library, in all of the process. */
__attribute__((visibility("default"))) void* mmap(void* address, size_t size, int protection, int flags, int fd,
                                                  off_t offset)
{
    Dl_info caller;
    if (dladdr(__builtin_return_address(0), &caller) != 0 && strstr(caller.dli_fname, "critpath") != NULL) {
        ++mappings;
    }
    return (void*)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

static MPI_Request requests[open_requests];

static void post(void)
{
    static int sent, received[open_requests / 2];
    for (int i = 0; i < open_requests / 2; ++i) {
        MPI_Irecv(&received[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i]);
        MPI_Isend(&sent, 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i + 1]);
    }
}

static void complete(void)
{
    static int indices[open_requests];
    int index, flag = 0, done = 0;
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    while (!flag) {
        MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
    }
    MPI_Waitany(open_requests, requests, &index, MPI_STATUS_IGNORE);
    MPI_Testany(open_requests, requests, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Testsome(open_requests / 2, requests, &done, indices, MPI_STATUSES_IGNORE);
    MPI_Waitsome(open_requests, requests, &done, indices, MPI_STATUSES_IGNORE);
    MPI_Waitall(open_requests, requests, MPI_STATUSES_IGNORE);
    post();
    for (flag = 0; !flag;) {
        MPI_Testall(open_requests, requests, &flag, MPI_STATUSES_IGNORE);
    }
}

/* The first time everything grows to its size. */
static void no_memory(void)
{
    for (int round = 0; round < 3; ++round) {
        mappings = 0;
        post();
        complete();
        printf("round %d: %d mappings\n", round, mappings);
    }
}

static const struct Case cases[] = {
    {"same_question", same_question},
    {"two_places", two_places},
    {"two_requests", two_requests},
    {"work_between", work_between},
    {"work_between_turns", work_between_turns},
    {"no_memory", no_memory},
};

int main(int argc, char** argv)
{
    return run_cases(argc, argv, cases, sizeof cases / sizeof *cases, MPI_THREAD_SINGLE);
}

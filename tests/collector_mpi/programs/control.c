// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns programs of which only a part is to be recorded, for control_test.py: one function a case, named by the first
// argument. Two ranks.
#include "cases.h"

#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int data[16], other[16];

static void exchange(int tag)
{
    MPI_Request requests[2];
    MPI_Irecv(other, 1, MPI_INT, 1 - rank, tag, WORLD, &requests[0]);
    MPI_Isend(data, 1, MPI_INT, 1 - rank, tag, WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

// One or more calls of each group.
static void groups(void)
{
    exchange(1);
    MPI_Barrier(WORLD);
    MPI_Request request;
    MPI_Ibarrier(WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm copy;
    MPI_Comm_dup(WORLD, &copy);
    MPI_Win win;
    MPI_Win_create(data, sizeof data, sizeof *data, MPI_INFO_NULL, copy, &win);
    MPI_Win_fence(0, win);
    MPI_Put(other, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_File file;
    MPI_File_open(copy, "control.out", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank * 4, data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&copy);
    int position = 0;
    MPI_Pack(data, 1, MPI_INT, other, sizeof other, &position, WORLD);
}

// Communicators are always recorded.
static void idup(void)
{
    MPI_Comm copy;
    MPI_Request requests[2];
    MPI_Comm_idup(WORLD, &copy, &requests[0]);
    MPI_Irecv(data, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &requests[1]);
    MPI_Cancel(&requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&copy);
    MPI_Comm_idup(WORLD, &copy, &requests[0]);
    for (int done = 0; !done;)
        MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
}

// Step i: a message with tag i, then the i-th collective that counts, and three that do not.
static void range(void)
{
    for (int i = 1; i <= 6; ++i) {
        exchange(i);
        MPI_Barrier(MPI_COMM_SELF);
        MPI_Bcast(data, 1, MPI_INT, 0, WORLD);
        MPI_Reduce(data, other, 1, MPI_INT, MPI_SUM, 0, WORLD);
        if (i % 2 == 0)
            MPI_Barrier(WORLD);
        else
            MPI_Allreduce(data, other, 1, MPI_INT, MPI_SUM, WORLD);
    }
}

static void pcontrol(void)
{
    exchange(1);
    MPI_Pcontrol(0);
    exchange(2);
    MPI_Pcontrol(0);
    exchange(3);
    MPI_Pcontrol(1);
    MPI_Pcontrol(2);
    MPI_Pcontrol(17);
    exchange(4);
    MPI_Pcontrol(0);
    exchange(5);
}

// Requests that are posted on one side of a switch and completed on the other. Tags 1 and 3 are posted while it is on.
static void crossing(void)
{
    MPI_Request on[2], off[2], persistent;
    MPI_Irecv(&other[0], 1, MPI_INT, 1 - rank, 1, WORLD, &on[0]);
    MPI_Isend(&data[0], 1, MPI_INT, 1 - rank, 1, WORLD, &on[1]);
    MPI_Recv_init(&other[1], 1, MPI_INT, 1 - rank, 3, WORLD, &persistent);
    MPI_Pcontrol(0);
    MPI_Irecv(&other[2], 1, MPI_INT, 1 - rank, 2, WORLD, &off[0]);
    MPI_Isend(&data[1], 1, MPI_INT, 1 - rank, 2, WORLD, &off[1]);
    MPI_Waitall(2, on, MPI_STATUSES_IGNORE);
    MPI_Start(&persistent);
    MPI_Pcontrol(1);
    MPI_Waitall(2, off, MPI_STATUSES_IGNORE);
    MPI_Send(data, 1, MPI_INT, 1 - rank, 3, WORLD);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    MPI_Start(&persistent);
    MPI_Send(data, 1, MPI_INT, 1 - rank, 3, WORLD);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    MPI_Request_free(&persistent);
}

// Communicators and matched probes that are made while it is off, and used while it is on.
static void tables(void)
{
    MPI_Comm halves, copy;
    MPI_Message message;
    MPI_Pcontrol(0);
    MPI_Comm_split(WORLD, rank, 0, &halves);
    MPI_Comm_dup(WORLD, &copy);
    MPI_Request request;
    MPI_Isend(data, 1, MPI_INT, 1 - rank, 9, copy, &request);
    MPI_Mprobe(1 - rank, 9, copy, &message, MPI_STATUS_IGNORE);
    MPI_Pcontrol(1);
    MPI_Mrecv(other, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(halves);
    MPI_Barrier(copy);
    MPI_Comm third;
    MPI_Comm_dup(WORLD, &third);
    MPI_Comm_free(&third);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&halves);
}

static pthread_barrier_t step;

// Calls MPI while it is on, while it is off, and while it is on again.
static void* other_thread(void* unused)
{
    for (int i = 0; i < 3; ++i) {
        pthread_barrier_wait(&step);
        MPI_Barrier(MPI_COMM_SELF);
        pthread_barrier_wait(&step);
    }
    return unused;
}

static void threads(void)
{
    pthread_t thread;
    pthread_barrier_init(&step, NULL, 2);
    pthread_create(&thread, NULL, other_thread, NULL);
    for (int level = 0; level < 3; ++level) {
        pthread_barrier_wait(&step);
        pthread_barrier_wait(&step);
        if (level < 2)
            MPI_Pcontrol(level);
    }
    pthread_join(thread, NULL);
}

// More stretches than are remembered for threads that come late.
static void often(void)
{
    for (int i = 0; i < 200; ++i) {
        MPI_Pcontrol(0);
        MPI_Barrier(MPI_COMM_SELF);
        MPI_Pcontrol(1);
    }
}

static const struct Case cases[] = {
    {"groups", groups}, {"range", range},     {"pcontrol", pcontrol}, {"crossing", crossing},
    {"tables", tables}, {"threads", threads}, {"often", often},       {"idup", idup},
};

int main(int argc, char** argv)
{
    return run_cases(argc, argv, cases, sizeof cases / sizeof *cases, MPI_THREAD_MULTIPLE);
}

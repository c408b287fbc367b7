// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// MPI_THREAD_MULTIPLE on a ring of ranks: eight threads, of which every two share a channel. What one thread posts
// another completes. Each message of a channel, and each broadcast of a thread's communicator, has its own size.
//
// usage: threads ROUNDS [switch]   switch: every thread switches the recording on and off at random
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 8, lanes = threads / 2, largest = 1 << 16 };

static int rounds, rank, size, switches;
static pthread_barrier_t barrier;
static struct {
    pthread_mutex_t lock;  // the order of posts on a channel is the order of its holders
    int sent;
} lane[lanes];
static MPI_Request request[threads][2];
static char in[threads][largest], out[threads][largest];
static MPI_Comm comm[threads];

static void switch_at_random(unsigned* seed)
{
    if (switches && rand_r(seed) % 6 == 0)
        MPI_Pcontrol(rand_r(seed) % 2);
}

static void post(int thread)
{
    const int tag = thread / 2;
    pthread_mutex_lock(&lane[tag].lock);
    MPI_Irecv(in[thread], largest, MPI_BYTE, (rank + size - 1) % size, tag, MPI_COMM_WORLD, &request[thread][0]);
    MPI_Isend(out[thread], ++lane[tag].sent, MPI_BYTE, (rank + 1) % size, tag, MPI_COMM_WORLD, &request[thread][1]);
    pthread_mutex_unlock(&lane[tag].lock);
}

static void* work(void* argument)
{
    const int thread = (int)(size_t)argument;
    unsigned seed = (unsigned)(threads * rank + thread);
    for (int round = 0; round < rounds; ++round) {
        switch_at_random(&seed);
        post(thread);
        switch_at_random(&seed);
        pthread_barrier_wait(&barrier);
        MPI_Waitall(2, request[(thread + 3) % threads], MPI_STATUSES_IGNORE);
        MPI_Bcast(out[thread], round + 1, MPI_BYTE, round % size, comm[thread]);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char** argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 77);
    rounds = argc > 1 ? atoi(argv[1]) : 50;
    switches = argc > 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_barrier_init(&barrier, NULL, threads);
    for (int i = 0; i < lanes; ++i)
        pthread_mutex_init(&lane[i].lock, NULL);
    pthread_t thread[threads];
    for (int i = 0; i < threads; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (int i = 0; i < threads; ++i)
        pthread_create(&thread[i], NULL, work, (void*)(size_t)i);
    for (int i = 0; i < threads; ++i)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < threads; ++i)
        MPI_Comm_free(&comm[i]);
    MPI_Finalize();
    return 0;
}

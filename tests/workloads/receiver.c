// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `receiver joins|waits`: 2 ranks, one of which has another thread receive for it, and is blocked meanwhile.
//
// A round: rank 1 works 60 ms and sends; the second thread of rank 0 receives, works 40 ms on it, and lets the first
// one go on, which works 20 ms, and answers. Rank 0's first thread has nothing to do before, rank 1 waits for the
// answer.
//
//   joins  the second thread ends then; each round has one of its own
//   waits  it tells so, and receives again
//
// Path: in every round work_send 60 ms, work_received 40 ms, work_after 20 ms.
#include "work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

WORK(work_send)
WORK(work_received)
WORK(work_after)

enum { rounds = 5 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int received = 0;

static void receive(void)
{
    receive_token(1, tag_data);
    work_received(40);
}

static void* one(void* unused)
{
    receive();
    return unused;
}

static void* all(void* unused)
{
    for (int round = 1; round <= rounds; ++round) {
        receive();
        pthread_mutex_lock(&mutex);
        received = round;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void wait_for(int round)
{
    pthread_mutex_lock(&mutex);
    while (received < round)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

int main(int argc, char** argv)
{
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        abort();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const int joins = strcmp(argv[1], "joins") == 0;
    pthread_t thread;
    if (rank == 0 && !joins)
        pthread_create(&thread, NULL, all, NULL);
    for (int round = 1; round <= rounds; ++round) {
        if (rank == 1) {
            work_send(60);
            send_token(0, tag_data);
            receive_token(0, tag_reply);
            continue;
        }
        if (joins) {
            pthread_create(&thread, NULL, one, NULL);
            pthread_join(thread, NULL);
        } else {
            wait_for(round);
        }
        work_after(20);
        send_token(1, tag_reply);
    }
    if (rank == 0 && !joins)
        pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}

/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the calls of nonblocking_test.py: non-blocking collectives, MPI_Comm_idup and every mix of requests. One
 * function a case, named by the first argument. What is printed must not depend on the recorder. */
#include "cases.h"

#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int buffer[1024], other[1024];

static void finish(MPI_Request* request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    CHECK(*request == MPI_REQUEST_NULL);
}

/* On 4 ranks. Arguments that are not significant are poison. */
static void collectives(void)
{
    MPI_Request request;
    void* const displs = counts_of(0, 10, 20, 30);
    void* const poison = (void*)8;
    MPI_Datatype types[4] = {MPI_INT, MPI_DOUBLE, MPI_INT, MPI_CHAR};
    const int root = rank == 1;
    MPI_Ibarrier(WORLD, &request);
    finish(&request);
    MPI_Iallreduce(buffer, other, 2, MPI_INT, MPI_SUM, WORLD, &request);
    finish(&request);
    MPI_Iallgather(buffer, 1, MPI_INT, other, 1, MPI_INT, WORLD, &request);
    finish(&request);
    MPI_Iallgatherv(buffer, rank + 1, MPI_INT, other, counts_of(1, 2, 3, 4), displs, MPI_INT, WORLD, &request);
    finish(&request);
    MPI_Ialltoall(buffer, 3, MPI_INT, other, 3, MPI_INT, WORLD, &request);
    finish(&request);
    void* const column = counts_of(rank, rank, rank, rank);
    MPI_Ialltoallv(buffer, counts_of(0, 1, 2, 3), displs, MPI_INT, other, column, displs, MPI_INT, WORLD, &request);
    finish(&request);
    MPI_Datatype own[4] = {types[rank], types[rank], types[rank], types[rank]};
    void* const bytes = counts_of(0, 256, 512, 768);
    MPI_Ialltoallw(buffer, counts_of(1, 1, 1, 1), bytes, types, other, counts_of(1, 1, 1, 1), bytes, own, WORLD,
                   &request);
    finish(&request);
    MPI_Ireduce_scatter(buffer, other, counts_of(1, 2, 3, 4), MPI_INT, MPI_SUM, WORLD, &request);
    finish(&request);
    MPI_Ireduce_scatter_block(buffer, other, 2, MPI_INT, MPI_SUM, WORLD, &request);
    finish(&request);
    MPI_Ibcast(buffer, 5, MPI_INT, 1, WORLD, &request);
    finish(&request);
    MPI_Iscatter(buffer, root ? 2 : -7, root ? MPI_INT : MPI_DATATYPE_NULL, other, 2, MPI_INT, 1, WORLD, &request);
    finish(&request);
    MPI_Iscatterv(buffer, root ? counts_of(1, 2, 3, 4) : poison, root ? displs : poison,
                  root ? MPI_INT : MPI_DATATYPE_NULL, other, rank + 1, MPI_INT, 1, WORLD, &request);
    finish(&request);
    MPI_Ireduce(buffer, other, 2, MPI_INT, MPI_SUM, 1, WORLD, &request);
    finish(&request);
    MPI_Igather(buffer, 2, MPI_INT, other, root ? 2 : -7, root ? MPI_INT : MPI_DATATYPE_NULL, 1, WORLD, &request);
    finish(&request);
    MPI_Igatherv(buffer, rank + 1, MPI_INT, other, root ? counts_of(1, 2, 3, 4) : poison, root ? displs : poison,
                 root ? MPI_INT : MPI_DATATYPE_NULL, 1, WORLD, &request);
    finish(&request);
    MPI_Iscan(buffer, other, 2, MPI_INT, MPI_SUM, WORLD, &request);
    finish(&request);
    MPI_Iexscan(buffer, other, 2, MPI_INT, MPI_SUM, WORLD, &request);
    finish(&request);
}

/* On 4 ranks, all open at the same time. */
static void in_place(void)
{
    enum { count = 10 };
    MPI_Request requests[count];
    static int space[count][64];
    void* const displs = counts_of(0, 10, 20, 30);
    void* const poison = (void*)8;
    const int root = rank == 1;
    MPI_Iallreduce(MPI_IN_PLACE, space[0], 2, MPI_INT, MPI_SUM, WORLD, &requests[0]);
    MPI_Iallgather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, space[1], 1, MPI_INT, WORLD, &requests[1]);
    MPI_Iallgatherv(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, space[2], counts_of(1, 2, 3, 4), displs, MPI_INT, WORLD,
                    &requests[2]);
    MPI_Ialltoall(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, space[3], 3, MPI_INT, WORLD, &requests[3]);
    MPI_Ialltoallv(MPI_IN_PLACE, poison, poison, MPI_DATATYPE_NULL, space[4], counts_of(2, 2, 2, 2), displs, MPI_INT,
                   WORLD, &requests[4]);
    MPI_Ireduce_scatter(MPI_IN_PLACE, space[5], counts_of(1, 2, 3, 4), MPI_INT, MPI_SUM, WORLD, &requests[5]);
    MPI_Ireduce(root ? MPI_IN_PLACE : buffer, space[6], 2, MPI_INT, MPI_SUM, 1, WORLD, &requests[6]);
    MPI_Igather(root ? MPI_IN_PLACE : buffer, root ? -7 : 2, root ? MPI_DATATYPE_NULL : MPI_INT, space[7], 2, MPI_INT,
                1, WORLD, &requests[7]);
    MPI_Iscatter(buffer, 2, MPI_INT, root ? MPI_IN_PLACE : space[8], root ? -7 : 2, root ? MPI_DATATYPE_NULL : MPI_INT,
                 1, WORLD, &requests[8]);
    MPI_Iscan(MPI_IN_PLACE, space[9], 2, MPI_INT, MPI_SUM, WORLD, &requests[9]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

/* On 3 ranks, a ring. */
static void neighbours(void)
{
    MPI_Comm ring;
    MPI_Request requests[5];
    static int space[5][64];
    int periodic = 1;
    MPI_Aint displs[2] = {0, 64};
    MPI_Datatype types[2] = {MPI_INT, MPI_CHAR}, received[2] = {MPI_CHAR, MPI_INT};
    MPI_Cart_create(WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Ineighbor_allgather(buffer, 1, MPI_INT, space[0], 1, MPI_INT, ring, &requests[0]);
    MPI_Ineighbor_allgatherv(buffer, rank + 1, MPI_INT, space[1],
                             counts_of((rank + 2) % 3 + 1, (rank + 1) % 3 + 1, 0, 0), counts_of(0, 10, 0, 0), MPI_INT,
                             ring, &requests[1]);
    MPI_Ineighbor_alltoall(buffer, 3, MPI_INT, space[2], 3, MPI_INT, ring, &requests[2]);
    MPI_Ineighbor_alltoallv(buffer, counts_of(1, 2, 0, 0), counts_of(0, 10, 0, 0), MPI_INT, space[3],
                            counts_of(2, 1, 0, 0), counts_of(0, 10, 0, 0), MPI_INT, ring, &requests[3]);
    MPI_Ineighbor_alltoallw(buffer, counts_of(1, 2, 0, 0), displs, types, space[4], counts_of(2, 1, 0, 0), displs,
                            received, ring, &requests[4]);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&ring);
}

/* On 3 ranks: {0} and {1, 2}. */
static void inter(void)
{
    MPI_Comm half, both;
    MPI_Request request;
    MPI_Comm_split(WORLD, rank > 0, rank, &half);
    MPI_Intercomm_create(half, 0, WORLD, rank > 0 ? 0 : 1, 1, &both);
    MPI_Ibcast(buffer, 2, MPI_INT, rank == 0 ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL, both, &request);
    finish(&request);
    MPI_Iallgather(buffer, 2, MPI_INT, other, 2, MPI_INT, both, &request);
    finish(&request);
    MPI_Ibarrier(both, &request);
    finish(&request);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* What is over when it is posted may share one handle. Its identity must not depend on where the handle went. */
static void over_at_once(void)
{
    enum { count = 6 };
    MPI_Request requests[count];
    int index, flag;
    MPI_Ibarrier(MPI_COMM_SELF, &requests[0]);
    MPI_Isend(buffer, 1, MPI_INT, (rank + 1) % size, 1, WORLD, &requests[1]);
    MPI_Ibcast(buffer, 3, MPI_INT, 0, MPI_COMM_SELF, &requests[2]);
    MPI_Isend(buffer, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &requests[3]);
    MPI_Ibarrier(MPI_COMM_SELF, &requests[4]);
    requests[5] = MPI_REQUEST_NULL;
    MPI_Wait(&requests[4], MPI_STATUS_IGNORE);
    MPI_Waitany(1, &requests[2], &index, MPI_STATUS_IGNORE);
    CHECK(index == 0);
    MPI_Testall(2, &requests[3], &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    MPI_Recv(other, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, MPI_STATUS_IGNORE);
}

static void waitany(void)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    int index;
    if (rank == 0) {
        MPI_Irecv(buffer, 4, MPI_INT, 1, 5, WORLD, &requests[0]);
        MPI_Ibarrier(WORLD, &requests[2]);
        MPI_Waitany(3, requests, &index, &status);
        CHECK(index == 2);
        MPI_Send(buffer, 0, MPI_INT, 1, 6, WORLD);
        MPI_Waitany(3, requests, &index, &status);
        CHECK(index == 0 && status.MPI_SOURCE == 1 && status.MPI_TAG == 5);
    } else {
        MPI_Ibarrier(WORLD, &requests[0]);
        MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
        MPI_Recv(buffer, 0, MPI_INT, 0, 6, WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, 3, MPI_INT, 0, 5, WORLD);
    }
}

static int query(void* state, MPI_Status* status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 7);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 77;
    status->MPI_TAG = 78;
    return MPI_SUCCESS;
}

static int freed(void* state)
{
    ++*(int*)state;
    return MPI_SUCCESS;
}

static int cancelled(void* state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

/* Messages, collectives, a generalised request, an inactive one and a null one, completed by Testsome. */
static void mixture(void)
{
    enum { count = 8 };
    MPI_Request requests[count], generalised;
    MPI_Status statuses[count];
    int indices[count], done, left = 6, frees = 0, ints;
    const int peer = 1 - rank;
    MPI_Irecv(buffer, 8, MPI_INT, MPI_ANY_SOURCE, 3, WORLD, &requests[0]);
    MPI_Ibarrier(WORLD, &requests[1]);
    MPI_Grequest_start(query, freed, cancelled, &frees, &generalised);
    requests[2] = generalised;
    requests[3] = MPI_REQUEST_NULL;
    MPI_Recv_init(other, 1, MPI_INT, peer, 9, WORLD, &requests[4]); /* never started */
    MPI_Isend(buffer + 512, 2 + rank, MPI_INT, peer, 3, WORLD, &requests[5]);
    MPI_Iallreduce(&rank, other, 1, MPI_INT, MPI_SUM, WORLD, &requests[6]);
    MPI_Ibarrier(MPI_COMM_SELF, &requests[7]);
    MPI_Request* const inactive = &requests[4];
    MPI_Request saved = *inactive;
    for (int round = 0; left > 0; ++round) {
        MPI_Testsome(count, requests, &done, indices, statuses);
        CHECK(done != MPI_UNDEFINED);
        for (int i = 0; i < done; ++i, --left) {
            CHECK(requests[indices[i]] == MPI_REQUEST_NULL);
            if (indices[i] == 0) {
                MPI_Get_count(&statuses[i], MPI_INT, &ints);
                printf("rank %d: receive %d %d %d\n", rank, statuses[i].MPI_SOURCE, statuses[i].MPI_TAG, ints);
            } else if (indices[i] == 2) {
                MPI_Get_count(&statuses[i], MPI_INT, &ints);
                printf("rank %d: generalised %d %d %d\n", rank, statuses[i].MPI_SOURCE, statuses[i].MPI_TAG, ints);
            } else {
                printf("rank %d: request %d\n", rank, indices[i]);
            }
        }
        if (round == 10) {
            MPI_Grequest_complete(generalised);
        }
    }
    MPI_Testsome(count, requests, &done, indices, statuses);
    printf("rank %d: then %d, sum %d, frees %d\n", rank, done == MPI_UNDEFINED, other[0], frees);
    CHECK(*inactive == saved);
    MPI_Request_free(inactive);
}

/* Two duplicates are open at once; ranks complete them in different order, and rank 1 needs a message that rank 0 sends
 * only when it has completed both. */
static void idup(void)
{
    MPI_Comm first, second, derived;
    MPI_Request requests[2];
    MPI_Comm_idup(WORLD, &first, &requests[0]);
    MPI_Comm_idup(WORLD, &second, &requests[1]);
    if (rank == 0) {
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Send(buffer, 1, MPI_INT, 1, 1, WORLD);
    } else {
        MPI_Recv(buffer, 1, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(second);
    MPI_Barrier(first);
    MPI_Comm_dup(second, &derived);
    MPI_Comm_dup(WORLD, &first); /* the old one stays */
    MPI_Comm_free(&derived);
}

static void errors(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int bcast, allreduce, barrier, idup;
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Ibcast(buffer, 1, MPI_INT, 99, WORLD, &request), &bcast);
    MPI_Error_class(MPI_Iallreduce(buffer, other, 1, MPI_DATATYPE_NULL, MPI_SUM, WORLD, &request), &allreduce);
    MPI_Error_class(MPI_Ibarrier(MPI_COMM_NULL, &request), &barrier);
    MPI_Comm none;
    MPI_Error_class(MPI_Comm_idup(MPI_COMM_NULL, &none, &request), &idup);
    /* At once: the launcher mixes pieces of lines. */
    printf("%d %d %d %d %d\n", bcast == MPI_ERR_ROOT, allreduce != MPI_SUCCESS, barrier == MPI_ERR_COMM,
           idup == MPI_ERR_COMM, request == MPI_REQUEST_NULL);
}

/* Both calls are wrong for a collective; what comes of it is up to MPI. */
static void misused(void)
{
    MPI_Request request;
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Iallreduce(&rank, other, 1, MPI_INT, MPI_SUM, WORLD, &request);
    int cancelled, freed;
    MPI_Error_class(MPI_Cancel(&request), &cancelled);
    finish(&request);
    MPI_Ibarrier(MPI_COMM_SELF, &request);
    MPI_Error_class(MPI_Request_free(&request), &freed);
    printf("%d %d %d %d\n", cancelled, freed, request == MPI_REQUEST_NULL, other[0]);
    if (freed != MPI_SUCCESS) {
        finish(&request);
    }
    MPI_Ibcast(buffer, 1, MPI_INT, 0, MPI_COMM_SELF, &request);
    finish(&request);
}

enum { open_requests = 20000 };

/* Twice, so that the second round finds every table grown. */
static void many(void)
{
    MPI_Request* requests = malloc(open_requests * sizeof *requests);
    int* indices = malloc(open_requests * sizeof *indices);
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < open_requests / 4; ++i) {
            MPI_Irecv(&buffer[i % 1024], 1, MPI_INT, 1 - rank, i, WORLD, &requests[4 * i]);
            MPI_Isend(&other[i % 1024], 1, MPI_INT, 1 - rank, i, WORLD, &requests[4 * i + 1]);
            MPI_Ibarrier(MPI_COMM_SELF, &requests[4 * i + 2]);
            requests[4 * i + 3] = MPI_REQUEST_NULL;
        }
        int done = 0;
        while (round == 0 && done != MPI_UNDEFINED) {
            MPI_Waitsome(open_requests, requests, &done, indices, MPI_STATUSES_IGNORE);
        }
        MPI_Waitall(open_requests, requests, MPI_STATUSES_IGNORE);
    }
    free(requests);
    free(indices);
}

/* One thread posts, another completes. */
enum { rounds = 500, pairs = 3 };

struct pair {
    MPI_Comm comm;
    int tag;
    pthread_barrier_t barrier;
    MPI_Request requests[4];
};

static void* post(void* data)
{
    struct pair* const pair = data;
    int sent = pair->tag, received, sum;
    for (int i = 0; i < rounds; ++i) {
        MPI_Irecv(&received, 1, MPI_INT, 0, pair->tag, pair->comm, &pair->requests[0]);
        MPI_Isend(&sent, 1, MPI_INT, 0, pair->tag, pair->comm, &pair->requests[1]);
        MPI_Iallreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, pair->comm, &pair->requests[2]);
        MPI_Ibarrier(pair->comm, &pair->requests[3]);
        pthread_barrier_wait(&pair->barrier);
        pthread_barrier_wait(&pair->barrier);
        CHECK(received == pair->tag && sum == pair->tag);
    }
    return NULL;
}

static void* complete(void* data)
{
    struct pair* const pair = data;
    for (int i = 0; i < rounds; ++i) {
        int index;
        pthread_barrier_wait(&pair->barrier);
        MPI_Waitany(1, &pair->requests[2], &index, MPI_STATUS_IGNORE);
        MPI_Waitall(4, pair->requests, MPI_STATUSES_IGNORE);
        pthread_barrier_wait(&pair->barrier);
    }
    return NULL;
}

static void threads(void)
{
    static struct pair all[pairs];
    pthread_t thread[2 * pairs];
    for (int i = 0; i < pairs; ++i) {
        all[i].tag = 100 + i;
        MPI_Comm_dup(MPI_COMM_SELF, &all[i].comm);
        pthread_barrier_init(&all[i].barrier, NULL, 2);
        pthread_create(&thread[2 * i], NULL, post, &all[i]);
        pthread_create(&thread[2 * i + 1], NULL, complete, &all[i]);
    }
    for (int i = 0; i < 2 * pairs; ++i) {
        pthread_join(thread[i], NULL);
    }
}

static const struct Case cases[] = {
    {"collectives", collectives},
    {"in_place", in_place},
    {"neighbours", neighbours},
    {"inter", inter},
    {"over_at_once", over_at_once},
    {"waitany", waitany},
    {"mixture", mixture},
    {"idup", idup},
    {"errors", errors},
    {"misused", misused},
    {"many", many},
    {"threads", threads},
};

int main(int argc, char** argv)
{
    const int level = argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    return run_cases(argc, argv, cases, sizeof cases / sizeof *cases, level);
}

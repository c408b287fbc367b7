/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the MPI calls whose records records_test.py expects: one function a case, named by the first argument. */
#include "cases.h"

#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static int buffer[1024], other[1024];

static void send_recv(void)
{
    if (rank == 0) {
        MPI_Recv(buffer, 10, MPI_INT, 1, 7, WORLD, MPI_STATUS_IGNORE);
        MPI_Status status;
        MPI_Recv(buffer, 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
        CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 8);
        MPI_Recv(buffer, 10, MPI_DOUBLE, 1, 9, WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(buffer, 3, MPI_INT, 0, 7, WORLD);
        MPI_Ssend(buffer, 0, MPI_INT, 0, 8, WORLD);
        MPI_Datatype pair;
        MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
        MPI_Type_commit(&pair);
        MPI_Send(buffer, 3, pair, 0, 9, WORLD);
        MPI_Type_free(&pair);
    }
}

static void waitall(void)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(buffer, 10, MPI_INT, 1 - rank, 1, WORLD, &requests[0]);
    MPI_Isend(other, 4 + rank, MPI_INT, 1 - rank, 1, WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL);
}

/* Finished sends may share one handle: their completions must still name the right post. */
static void shared_handles(void)
{
    MPI_Request requests[3], copies[2], request;
    if (rank == 0) {
        for (int i = 0; i < 3; ++i) {
            MPI_Isend(buffer, i + 1, MPI_INT, 1, i, WORLD, &requests[i]);
        }
        for (int i = 2; i >= 0; --i) {
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < 2; ++i) {
            MPI_Isend(buffer, i + 4, MPI_INT, 1, i + 3, WORLD, &request);
            copies[i] = request;
        }
        MPI_Waitall(2, copies, MPI_STATUSES_IGNORE);
    } else {
        for (int i = 0; i < 5; ++i) {
            MPI_Recv(buffer, 10, MPI_INT, 0, i, WORLD, MPI_STATUS_IGNORE);
        }
    }
}

static void waitany(void)
{
    if (rank == 0) {
        MPI_Request requests[3];
        int index;
        requests[0] = MPI_REQUEST_NULL;
        MPI_Irecv(buffer, 10, MPI_INT, 1, 1, WORLD, &requests[1]);
        MPI_Irecv(other, 10, MPI_INT, 1, 2, WORLD, &requests[2]);
        MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
        CHECK(index == 2);
        MPI_Send(buffer, 0, MPI_INT, 1, 3, WORLD);
        MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
        CHECK(index == 1);
        MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
        CHECK(index == MPI_UNDEFINED);
    } else {
        MPI_Send(buffer, 2, MPI_INT, 0, 2, WORLD);
        MPI_Recv(buffer, 0, MPI_INT, 0, 3, WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, 1, MPI_INT, 0, 1, WORLD);
    }
}

static void waitsome(void)
{
    if (rank == 0) {
        MPI_Request requests[2];
        int indices[2], count;
        MPI_Irecv(buffer, 10, MPI_INT, 1, 1, WORLD, &requests[0]);
        MPI_Irecv(other, 10, MPI_INT, 1, 2, WORLD, &requests[1]);
        MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
        CHECK(count == 1 && indices[0] == 1);
        MPI_Send(buffer, 0, MPI_INT, 1, 3, WORLD);
        do {
            MPI_Testsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
        } while (count == 0);
        CHECK(count == 1 && indices[0] == 0);
        MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
        CHECK(count == MPI_UNDEFINED);
    } else {
        MPI_Send(buffer, 2, MPI_INT, 0, 2, WORLD);
        MPI_Recv(buffer, 0, MPI_INT, 0, 3, WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, 1, MPI_INT, 0, 1, WORLD);
    }
}

static void test_loops(void)
{
    MPI_Request requests[2];
    int flag = 0, index;
    long tests = 0;
    if (rank == 0) {
        MPI_Irecv(buffer, 10, MPI_INT, 1, 1, WORLD, &requests[0]);
        MPI_Irecv(other, 10, MPI_INT, 1, 2, WORLD, &requests[1]);
        for (flag = 0; !flag; ++tests) {
            MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        }
        printf("tests %ld\n", tests);
        MPI_Irecv(buffer, 10, MPI_INT, 1, 3, WORLD, &requests[0]);
        MPI_Send(buffer, 0, MPI_INT, 1, 0, WORLD);
        for (flag = 0; !flag;) {
            MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        }
        MPI_Irecv(buffer, 10, MPI_INT, 1, 4, WORLD, &requests[0]);
        MPI_Send(buffer, 0, MPI_INT, 1, 0, WORLD);
        for (flag = 0; !flag;) {
            MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
        }
        CHECK(index == 0);
    } else {
        MPI_Send(buffer, 1, MPI_INT, 0, 1, WORLD);
        struct timespec pause = {0, 20000000};
        nanosleep(&pause, NULL);
        MPI_Send(buffer, 2, MPI_INT, 0, 2, WORLD);
        for (int i = 3; i <= 4; ++i) {
            MPI_Recv(buffer, 0, MPI_INT, 0, 0, WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, i, MPI_INT, 0, i, WORLD);
        }
    }
}

/* Three questions in turn, and one of them from two places. */
static void poll_turns(void)
{
    enum { enough = 1000 };
    MPI_Request requests[2];
    int flag = 0, found = 0, index;
    long turns = 0;
    if (rank == 0) {
        MPI_Irecv(buffer, 10, MPI_INT, 1, 1, WORLD, &requests[0]);
        MPI_Irecv(other, 10, MPI_INT, 1, 2, WORLD, &requests[1]);
        for (;; ++turns) {
            if (turns == enough)
                MPI_Send(buffer, 0, MPI_INT, 1, 0, WORLD);
            MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
            MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
            if (flag)
                break;
            MPI_Iprobe(1, 3, WORLD, &found, MPI_STATUS_IGNORE);
            CHECK(!found);
            MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
        }
        printf("turns %ld\n", turns);
        MPI_Send(buffer, 0, MPI_INT, 1, 0, WORLD);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    } else {
        for (int tag = 1; tag <= 2; ++tag) {
            MPI_Recv(buffer, 0, MPI_INT, 0, 0, WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, 1, MPI_INT, 0, tag, WORLD);
        }
    }
}

static void persistent(void)
{
    MPI_Request requests[2];
    MPI_Ssend_init(other, 2, MPI_INT, 1 - rank, 5, WORLD, &requests[0]);
    MPI_Recv_init(buffer, 8, MPI_INT, MPI_ANY_SOURCE, 5, WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* inactive */
    for (int i = 0; i < 2; ++i) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&requests[1]);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void persistent_ready(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Rsend_init(other, 3, MPI_INT, 1, 5, WORLD, &request);
        MPI_Barrier(WORLD);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else {
        MPI_Irecv(buffer, 8, MPI_INT, 0, 5, WORLD, &request);
        MPI_Barrier(WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Receives are posted before ready sends begin. */
static void send_modes(void)
{
    MPI_Request requests[3];
    if (rank == 0) {
        static char attached[4 * (64 + MPI_BSEND_OVERHEAD)];
        void* detached;
        count_t bytes;
        MPI_Barrier(WORLD);
        MPI_Rsend(buffer, 1, MPI_INT, 1, 1, WORLD);
        MPI_Irsend(buffer, 2, MPI_INT, 1, 2, WORLD, &requests[0]);
        MPI_Issend(buffer, 3, MPI_INT, 1, 3, WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Buffer_attach(attached, sizeof attached);
        MPI_Bsend(buffer, 4, MPI_INT, 1, 4, WORLD);
        MPI_Ibsend(buffer, 5, MPI_INT, 1, 5, WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Bsend_init(buffer, 6, MPI_INT, 1, 6, WORLD, &requests[0]);
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Request_free(&requests[0]);
        MPI_Buffer_detach(&detached, &bytes);
        CHECK(detached == attached && bytes == sizeof attached);
    } else {
        for (int i = 0; i < 3; ++i) {
            MPI_Irecv(i == 0 ? buffer : other + 10 * i, 10, MPI_INT, 0, i + 1, WORLD, &requests[i]);
        }
        MPI_Barrier(WORLD);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        for (int i = 3; i < 6; ++i) {
            MPI_Recv(buffer, 10, MPI_INT, 0, i + 1, WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/* What a process does by itself. */
static void local_functions(void)
{
    char packed[64];
    count_t position = 0;
    external_t at = 0;
    buffer[0] = 7, buffer[1] = 8, other[0] = 1, other[1] = 2;
    MPI_Pack(buffer, 2, MPI_INT, packed, sizeof packed, &position, WORLD);
    position = 0;
    MPI_Unpack(packed, sizeof packed, &position, &buffer[2], 2, MPI_INT, WORLD);
    MPI_Pack_external("external32", buffer, 2, MPI_INT, packed, sizeof packed, &at);
    at = 0;
    MPI_Unpack_external("external32", packed, sizeof packed, &at, &buffer[4], 2, MPI_INT);
    MPI_Reduce_local(&buffer[4], other, 2, MPI_INT, MPI_SUM);
    CHECK(buffer[2] == 7 && buffer[3] == 8 && other[0] == 8 && other[1] == 10);
}

/* Nothing more can be mapped: MPI gets what the application gave it. Not more requests than MPICH takes as it is. */
static void no_memory(void)
{
    enum { many = 64 };
    MPI_Request requests[many];
    struct rlimit before, limit;
    for (int i = 0; i < many; ++i) {
        requests[i] = MPI_REQUEST_NULL;
    }
    getrlimit(RLIMIT_AS, &before);
    limit = before;
    limit.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_AS, &limit);
    const int result = MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    setrlimit(RLIMIT_AS, &before);
    CHECK(result == MPI_SUCCESS);
    MPI_Barrier(WORLD);
}

static void sendrecv(void)
{
    MPI_Sendrecv(buffer, 1, MPI_INT, 1 - rank, 1, other, 5, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(buffer, 2, MPI_INT, 1 - rank, 2, 1 - rank, 2, WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(buffer, 1, MPI_INT, rank == 0 ? 1 : MPI_PROC_NULL, 3, other, 5, MPI_INT, rank == 1 ? 0 : MPI_PROC_NULL,
                 3, WORLD, MPI_STATUS_IGNORE);
}

static void probe(void)
{
    if (rank == 0) {
        int flag;
        MPI_Status status;
        MPI_Probe(MPI_ANY_SOURCE, 1, WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(buffer, 10, MPI_INT, 1, 1, WORLD, MPI_STATUS_IGNORE);
        do {
            MPI_Iprobe(1, MPI_ANY_TAG, WORLD, &flag, &status);
        } while (!flag);
        CHECK(status.MPI_TAG == 2);
        MPI_Recv(buffer, 10, MPI_INT, 1, 2, WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(buffer, 1, MPI_INT, 0, 1, WORLD);
        MPI_Send(buffer, 2, MPI_INT, 0, 2, WORLD);
    }
}

static void matched_probe(void)
{
    if (rank == 0) {
        MPI_Message first, second, none;
        MPI_Request request;
        int flag;
        MPI_Mprobe(1, 1, WORLD, &first, MPI_STATUS_IGNORE);
        do {
            MPI_Improbe(MPI_ANY_SOURCE, 2, WORLD, &flag, &second, MPI_STATUS_IGNORE);
        } while (!flag);
        MPI_Imrecv(other, 10, MPI_INT, &second, &request);
        MPI_Mrecv(buffer, 10, MPI_INT, &first, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Mprobe(MPI_PROC_NULL, 3, WORLD, &none, MPI_STATUS_IGNORE);
        CHECK(none == MPI_MESSAGE_NO_PROC);
        MPI_Mrecv(buffer, 10, MPI_INT, &none, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(buffer, 1, MPI_INT, 0, 1, WORLD);
        MPI_Send(buffer, 2, MPI_INT, 0, 2, WORLD);
    }
}

static void null_peers(void)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int flag, index;
    MPI_Send(buffer, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD);
    MPI_Recv(buffer, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(buffer, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &requests[0]);
    MPI_Irecv(buffer, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &requests[1]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Probe(MPI_PROC_NULL, 1, WORLD, MPI_STATUS_IGNORE);
    /* Nothing but null requests. */
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    CHECK(flag);
    MPI_Testany(3, requests, &index, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && index == MPI_UNDEFINED);
    MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
}

static void cancel(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag;
    MPI_Irecv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, 99, WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    MPI_Irecv(buffer, 1, MPI_INT, 1 - rank, 99, WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Receives are freed, too: of one channel, of any, one that was cancelled before, one whose message a probe has taken,
 * and one while recording is off. */
static void request_free(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Issend(buffer, 5, MPI_INT, 1, 1, WORLD, &request);
        MPI_Request_free(&request);
        MPI_Send(buffer, 6, MPI_INT, 1, 1, WORLD);
        MPI_Send(buffer, 7, MPI_INT, 1, 1, WORLD);
        MPI_Send(buffer, 8, MPI_INT, 1, 2, WORLD);
        MPI_Send(buffer, 9, MPI_INT, 1, 4, WORLD);
        MPI_Send(buffer, 10, MPI_INT, 1, 5, WORLD);
    } else {
        MPI_Message message;
        MPI_Recv(buffer, 5, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(other, 10, MPI_INT, 0, 1, WORLD, &request);
        MPI_Request_free(&request);
        MPI_Recv(buffer, 7, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(other, 10, MPI_INT, MPI_ANY_SOURCE, 2, WORLD, &request);
        MPI_Request_free(&request);
        MPI_Irecv(other, 10, MPI_INT, 0, 3, WORLD, &request);
        MPI_Cancel(&request);
        MPI_Request_free(&request);
        MPI_Mprobe(0, 4, WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Imrecv(other, 10, MPI_INT, &message, &request);
        MPI_Request_free(&request);
        MPI_Irecv(other, 10, MPI_INT, 0, 5, WORLD, &request);
        MPI_Pcontrol(0);
        MPI_Request_free(&request);
    }
    MPI_Barrier(WORLD);
}

/* The status must be intact after a look at it: nothing may have consumed the request. */
static void get_status(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag = 0, count;
    if (rank == 0) {
        MPI_Irecv(buffer, 5, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &request);
        while (!flag) {
            MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 6 && count == 2);
    } else {
        MPI_Send(buffer, 2, MPI_INT, 0, 6, WORLD);
    }
}

/* What was seen to be finished is completed by MPI_Request_free: a receive, a send, and a persistent receive, whose
 * first start was waited for. */
static void get_status_and_free(void)
{
    MPI_Request requests[3];
    MPI_Recv_init(other, 5, MPI_INT, 1 - rank, 8, WORLD, &requests[2]);
    MPI_Irecv(buffer, 5, MPI_INT, MPI_ANY_SOURCE, 7, WORLD, &requests[0]);
    MPI_Issend(other + 10, 1 + rank, MPI_INT, 1 - rank, 7, WORLD, &requests[1]);
    for (int i = 0; i < 2; ++i) {
        MPI_Start(&requests[2]);
        MPI_Send(other + 20, 2, MPI_INT, 1 - rank, 8, WORLD);
        if (i == 0)
            MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 3; ++i) {
        int flag = 0;
        while (!flag)
            MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 3; ++i) {
        MPI_Request_free(&requests[i]);
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
    /* A look in vain says nothing. */
    int flag;
    MPI_Irecv(buffer, 5, MPI_INT, 1 - rank, 9, WORLD, &requests[0]);
    MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Request_free(&requests[0]);
    MPI_Barrier(WORLD);
    MPI_Send(other, 1, MPI_INT, 1 - rank, 9, WORLD);
    MPI_Barrier(WORLD);
}

static void errors(void)
{
    int class;
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    int result = MPI_Send(buffer, 1, MPI_INT, 77, 1, WORLD);
    MPI_Error_class(result, &class);
    CHECK(class == MPI_ERR_RANK);
    result = MPI_Send(buffer, 1, MPI_DATATYPE_NULL, 0, 1, WORLD);
    MPI_Error_class(result, &class);
    CHECK(class == MPI_ERR_TYPE);
    if (rank == 0) {
        MPI_Request requests[2];
        result = MPI_Recv(buffer, 1, MPI_INT, 1, 1, WORLD, MPI_STATUS_IGNORE);
        MPI_Error_class(result, &class);
        CHECK(class == MPI_ERR_TRUNCATE);
        MPI_Irecv(buffer, 1, MPI_INT, 1, 2, WORLD, &requests[0]);
        MPI_Irecv(buffer, 8, MPI_INT, 1, 3, WORLD, &requests[1]);
        MPI_Barrier(WORLD);
        result = MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Error_class(result, &class);
        printf("waitall %d\n", class);
    } else {
        MPI_Send(buffer, 2, MPI_INT, 0, 1, WORLD);
        MPI_Send(buffer, 3, MPI_INT, 0, 2, WORLD);
        MPI_Send(buffer, 4, MPI_INT, 0, 3, WORLD);
        MPI_Barrier(WORLD);
    }
}

/* More than an int can count. */
static void large(void)
{
#ifdef LARGE_COUNTS
    MPI_Request request;
    MPI_Send(buffer, 3000000000, MPI_BYTE, MPI_PROC_NULL, 1, WORLD);
    MPI_Irecv(buffer, 3000000000, MPI_INT, MPI_PROC_NULL, 1, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Datatype nothing;
    MPI_Type_contiguous(0, MPI_BYTE, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Bcast(buffer, 3000000000, nothing, 0, WORLD);
    MPI_Type_free(&nothing);
#endif
}

/* On 4 ranks. Arguments that are not significant are poison. */
static void collectives(void)
{
    void* const displs = counts_of(0, 10, 20, 30);
    void* const poison = (void*)8;
    MPI_Datatype types[4] = {MPI_INT, MPI_DOUBLE, MPI_INT, MPI_CHAR};
    const int root = rank == 1;
    MPI_Barrier(WORLD);
    MPI_Allreduce(buffer, other, 2, MPI_INT, MPI_SUM, WORLD);
    MPI_Allgather(buffer, 1, MPI_INT, other, 1, MPI_INT, WORLD);
    MPI_Allgatherv(buffer, rank + 1, MPI_INT, other, counts_of(1, 2, 3, 4), displs, MPI_INT, WORLD);
    MPI_Alltoall(buffer, 3, MPI_INT, other, 3, MPI_INT, WORLD);
    void* const column = counts_of(rank, rank, rank, rank);
    MPI_Alltoallv(buffer, counts_of(0, 1, 2, 3), displs, MPI_INT, other, column, displs, MPI_INT, WORLD);
    MPI_Datatype own[4] = {types[rank], types[rank], types[rank], types[rank]};
    void* const bytes = counts_of(0, 256, 512, 768);
    MPI_Alltoallw(buffer, counts_of(1, 1, 1, 1), bytes, types, other, counts_of(1, 1, 1, 1), bytes, own, WORLD);
    MPI_Reduce_scatter(buffer, other, counts_of(1, 2, 3, 4), MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce_scatter_block(buffer, other, 2, MPI_INT, MPI_SUM, WORLD);
    MPI_Bcast(buffer, 5, MPI_INT, 1, WORLD);
    MPI_Scatter(buffer, root ? 2 : -7, root ? MPI_INT : MPI_DATATYPE_NULL, other, 2, MPI_INT, 1, WORLD);
    MPI_Scatterv(buffer, root ? counts_of(1, 2, 3, 4) : poison, root ? displs : poison,
                 root ? MPI_INT : MPI_DATATYPE_NULL, other, rank + 1, MPI_INT, 1, WORLD);
    MPI_Reduce(buffer, other, 2, MPI_INT, MPI_SUM, 1, WORLD);
    MPI_Gather(buffer, 2, MPI_INT, other, root ? 2 : -7, root ? MPI_INT : MPI_DATATYPE_NULL, 1, WORLD);
    MPI_Gatherv(buffer, rank + 1, MPI_INT, other, root ? counts_of(1, 2, 3, 4) : poison, root ? displs : poison,
                root ? MPI_INT : MPI_DATATYPE_NULL, 1, WORLD);
    MPI_Scan(buffer, other, 2, MPI_INT, MPI_SUM, WORLD);
    MPI_Exscan(buffer, other, 2, MPI_INT, MPI_SUM, WORLD);
}

/* Where nothing is sent, types mean nothing: this MPICH takes, and Open MPI refuses. */
static void null_types(void)
{
    void* const none = counts_of(0, 0, 0, 0);
    const MPI_Datatype nulls[4] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    MPI_Alltoallw(buffer, none, none, nulls, other, none, none, nulls, WORLD);
}

static void in_place(void)
{
    void* const displs = counts_of(0, 10, 20, 30);
    void* const poison = (void*)8;
    const int root = rank == 1;
    MPI_Allreduce(MPI_IN_PLACE, other, 2, MPI_INT, MPI_SUM, WORLD);
    MPI_Allgather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, other, 1, MPI_INT, WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, other, counts_of(1, 2, 3, 4), displs, MPI_INT, WORLD);
    MPI_Alltoall(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, other, 3, MPI_INT, WORLD);
    MPI_Alltoallv(MPI_IN_PLACE, poison, poison, MPI_DATATYPE_NULL, other, counts_of(2, 2, 2, 2), displs, MPI_INT,
                  WORLD);
    MPI_Reduce_scatter(MPI_IN_PLACE, other, counts_of(1, 2, 3, 4), MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce(root ? MPI_IN_PLACE : buffer, other, 2, MPI_INT, MPI_SUM, 1, WORLD);
    MPI_Gather(root ? MPI_IN_PLACE : buffer, root ? -7 : 2, root ? MPI_DATATYPE_NULL : MPI_INT, other, 2, MPI_INT, 1,
               WORLD);
    MPI_Gatherv(root ? MPI_IN_PLACE : buffer, root ? -7 : rank + 1, root ? MPI_DATATYPE_NULL : MPI_INT, other,
                root ? counts_of(1, 2, 3, 4) : poison, displs, MPI_INT, 1, WORLD);
    MPI_Scatter(buffer, 2, MPI_INT, root ? MPI_IN_PLACE : other, root ? -7 : 2, root ? MPI_DATATYPE_NULL : MPI_INT, 1,
                WORLD);
    MPI_Scatterv(buffer, root ? counts_of(1, 2, 3, 4) : poison, displs, MPI_INT, root ? MPI_IN_PLACE : other,
                 root ? -7 : rank + 1, root ? MPI_DATATYPE_NULL : MPI_INT, 1, WORLD);
    MPI_Scan(MPI_IN_PLACE, other, 2, MPI_INT, MPI_SUM, WORLD);
}

static void neighbours(void)
{
    MPI_Comm ring, graph;
    int periodic = 1, left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Cart_create(WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_allgather(buffer, 1, MPI_INT, other, 1, MPI_INT, ring);
    MPI_Neighbor_allgatherv(buffer, rank + 1, MPI_INT, other, counts_of(left + 1, right + 1, 0, 0),
                            counts_of(0, 10, 0, 0), MPI_INT, ring);
    MPI_Neighbor_alltoallv(buffer, counts_of(1, 2, 0, 0), counts_of(0, 10, 0, 0), MPI_INT, other, counts_of(2, 1, 0, 0),
                           counts_of(0, 10, 0, 0), MPI_INT, ring);
    const MPI_Aint apart[2] = {0, 256};
    const MPI_Datatype sent[2] = {MPI_INT, MPI_DOUBLE}, received[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Neighbor_alltoallw(buffer, counts_of(1, 2, 0, 0), apart, sent, other, counts_of(2, 1, 0, 0), apart, received,
                           ring);
    MPI_Dist_graph_create_adjacent(WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    MPI_Neighbor_alltoall(buffer, 3, MPI_INT, other, 3, MPI_INT, graph);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&ring);
}

/* On 3 ranks: rank 2 has 17 edges to rank 1, which has one to itself, and nobody has one to rank 0. */
static void graphs(void)
{
    enum { edges = 17 };
    MPI_Comm adjacent, dup, general, ring;
    int sources[edges + 1], destinations[edges + 1], weights[edges + 1];
    int in = rank == 1 ? edges + 1 : 0, out = rank == 2 ? edges : rank == 1 ? 1 : 0;
    for (int i = 0; i <= edges; ++i) {
        sources[i] = i == 3 ? 1 : 2;
        destinations[i] = 1;
        weights[i] = i + 1;
    }
    MPI_Dist_graph_create_adjacent(WORLD, in, sources, weights, out, destinations, weights, MPI_INFO_NULL, 0,
                                   &adjacent);
    MPI_Comm_dup(adjacent, &dup);
    int degree = 1, right = (rank + 1) % size;
    MPI_Dist_graph_create(WORLD, 1, &rank, &degree, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &general);
    int index[3] = {2, 3, 4}, of_all[4] = {1, 2, 0, 0};
    MPI_Graph_create(WORLD, 3, index, of_all, 0, &ring);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&general);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&adjacent);
}

/* On 4 ranks. */
static void communicators(void)
{
    MPI_Comm dup, half, none, created, group_comm, inter, merged, idup, inter_dup, self_dup, cart, row;
    MPI_Group world_group, even;
    MPI_Request request;
    int ranks[2] = {0, 2}, dims[2] = {2, 2}, periods[2] = {0, 0}, remain[2] = {0, 1}, value = 0;
    MPI_Comm_dup(WORLD, &dup);
    MPI_Comm_split(dup, rank % 2, -rank, &half);
    MPI_Comm_split(dup, rank == 3 ? MPI_UNDEFINED : 0, 0, &none);
    CHECK((none == MPI_COMM_NULL) == (rank == 3));
    MPI_Comm_group(WORLD, &world_group);
    MPI_Group_incl(world_group, 2, ranks, &even);
    MPI_Comm_create(WORLD, even, &created);
    if (rank % 2 == 0) {
        MPI_Comm_create_group(WORLD, even, 3, &group_comm);
        MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, group_comm);
        CHECK(value == 2);
        MPI_Comm_free(&group_comm);
    }
    MPI_Intercomm_create(half, 0, WORLD, rank % 2 == 0 ? 3 : 2, 4, &inter);
    MPI_Bcast(buffer, 2, MPI_INT, rank % 2 == 1 ? 1 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Comm_dup(inter, &inter_dup);
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    MPI_Comm_idup(WORLD, &idup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(idup);
    MPI_Comm_dup(MPI_COMM_SELF, &self_dup);
    MPI_Cart_create(WORLD, 2, dims, periods, 0, &cart);
    MPI_Cart_sub(cart, remain, &row);
    if (rank == 0) {
        MPI_Send(buffer, 1, MPI_INT, 1, 1, row);
    } else if (rank == 1) {
        MPI_Recv(buffer, 1, MPI_INT, 0, 1, row, MPI_STATUS_IGNORE);
    }
    MPI_Comm* all[] = {&dup, &half, &created, &inter, &inter_dup, &merged, &idup, &self_dup, &row, &cart};
    for (int i = 0; i < (int)(sizeof all / sizeof *all); ++i) {
        if (*all[i] != MPI_COMM_NULL) {
            MPI_Comm_free(all[i]);
        }
    }
    /* The handles are used again now. */
    MPI_Comm again;
    MPI_Comm_dup(WORLD, &again);
    MPI_Barrier(again);
    MPI_Comm_disconnect(&again);
}

static void* in_thread(void* data)
{
    const int tag = *(int*)data;
    int value = tag;
    MPI_Request request;
    for (int i = 0; i < 1000; ++i) {
        MPI_Irecv(&value, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request);
        MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[2];
    int tags[2] = {1, 2};
    for (int i = 0; i < 2; ++i) {
        pthread_create(&thread[i], NULL, in_thread, &tags[i]);
    }
    for (int i = 0; i < 2; ++i) {
        pthread_join(thread[i], NULL);
    }
}

static const struct Case cases[] = {
    {"send_recv", send_recv},
    {"waitall", waitall},
    {"shared_handles", shared_handles},
    {"waitany", waitany},
    {"waitsome", waitsome},
    {"test_loops", test_loops},
    {"poll_turns", poll_turns},
    {"persistent", persistent},
    {"persistent_ready", persistent_ready},
    {"send_modes", send_modes},
    {"local_functions", local_functions},
    {"no_memory", no_memory},
    {"sendrecv", sendrecv},
    {"probe", probe},
    {"matched_probe", matched_probe},
    {"null_peers", null_peers},
    {"large", large},
    {"cancel", cancel},
    {"request_free", request_free},
    {"get_status", get_status},
    {"get_status_and_free", get_status_and_free},
    {"errors", errors},
    {"collectives", collectives},
    {"null_types", null_types},
    {"in_place", in_place},
    {"neighbours", neighbours},
    {"graphs", graphs},
    {"communicators", communicators},
    {"threads", threads},
};

int main(int argc, char** argv)
{
    const int level = argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    return run_cases(argc, argv, cases, sizeof cases / sizeof *cases, level);
}

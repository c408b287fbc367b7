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

/* Each test, again and again, with no active request: null, none at all, and for two of them inactive. */
static void idle_tests(void)
{
    enum { times = 1000 };
    MPI_Request nulls[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, some[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int flag, index, done, indices[2];
    MPI_Recv_init(buffer, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, &some[1]);
    for (int i = 0; i < times; ++i) {
        MPI_Test(&nulls[0], &flag, MPI_STATUS_IGNORE);
        CHECK(flag);
    }
    for (int i = 0; i < times; ++i) {
        MPI_Testall(2, nulls, &flag, MPI_STATUSES_IGNORE);
        CHECK(flag);
    }
    for (int i = 0; i < times; ++i) {
        MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
        CHECK(flag);
    }
    for (int i = 0; i < times; ++i) {
        MPI_Testany(2, some, &index, &flag, MPI_STATUS_IGNORE);
        CHECK(flag && index == MPI_UNDEFINED);
    }
    for (int i = 0; i < times; ++i) {
        MPI_Testsome(2, some, &done, indices, MPI_STATUSES_IGNORE);
        CHECK(done == MPI_UNDEFINED);
    }
    for (int i = 0; i < times; ++i) {
        MPI_Request_get_status(nulls[0], &flag, MPI_STATUS_IGNORE);
        CHECK(flag);
    }
    MPI_Request_free(&some[1]);
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

/* What rank 1 asks for alone is refused, so that rank 0 takes part in what follows only. */
static void refused_creations(void)
{
    MPI_Comm comm;
    MPI_Win window;
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) {
#ifdef OPEN_MPI /* MPICH does not look */
        const int below_none = -3;
        const int periodic = 0;
        CHECK(MPI_Comm_split(WORLD, -77, 0, &comm) != MPI_SUCCESS);
        CHECK(MPI_Cart_create(WORLD, 1, &below_none, &periodic, 0, &comm) != MPI_SUCCESS);
#endif
        CHECK(MPI_Comm_dup(WORLD, NULL) != MPI_SUCCESS);
        CHECK(MPI_Comm_create(WORLD, MPI_GROUP_NULL, &comm) != MPI_SUCCESS);
        CHECK(MPI_Win_create(buffer, -5, 1, MPI_INFO_NULL, WORLD, &window) != MPI_SUCCESS);
    }
    MPI_Comm_dup(WORLD, &comm);
    MPI_Win_create(buffer, sizeof buffer, 1, MPI_INFO_NULL, WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
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
    {"idle_tests", idle_tests},
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
    {"refused_creations", refused_creations},
    {"threads", threads},
};

int main(int argc, char** argv)
{
    const int level = argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    return run_cases(argc, argv, cases, sizeof cases / sizeof *cases, level);
}

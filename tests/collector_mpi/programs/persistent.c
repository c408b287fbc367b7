/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the calls of persistent_test.py: persistent collectives and MPI_Isendrecv, as far as the MPI library has them.
 * One function a case, named by the first argument. What is printed must not depend on the recorder. */
#include "cases.h"

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#if MPI_VERSION < 4
#include "../../mpi_4.h"
#endif

static int buffer[1024], other[1024];

/* MPICH 4.0 fails at the second start of an MPI_Scatter_init. */
#ifdef MPICH_VERSION
enum { starts = 1 };
#else
enum { starts = 2 };
#endif

static void perform(MPI_Request* request)
{
    for (int i = 0; i < starts; ++i) {
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        CHECK(*request != MPI_REQUEST_NULL);
    }
    MPI_Request_free(request);
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
    MPI_Barrier_init(WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Allreduce_init(buffer, other, 2, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Allgather_init(buffer, 1, MPI_INT, other, 1, MPI_INT, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Allgatherv_init(buffer, rank + 1, MPI_INT, other, counts_of(1, 2, 3, 4), displs, MPI_INT, WORLD, MPI_INFO_NULL,
                        &request);
    perform(&request);
    MPI_Alltoall_init(buffer, 3, MPI_INT, other, 3, MPI_INT, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    void* const column = counts_of(rank, rank, rank, rank);
    MPI_Alltoallv_init(buffer, counts_of(0, 1, 2, 3), displs, MPI_INT, other, column, displs, MPI_INT, WORLD,
                       MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Datatype own[4] = {types[rank], types[rank], types[rank], types[rank]};
    void* const bytes = counts_of(0, 256, 512, 768);
    MPI_Alltoallw_init(buffer, counts_of(1, 1, 1, 1), bytes, types, other, counts_of(1, 1, 1, 1), bytes, own, WORLD,
                       MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Reduce_scatter_init(buffer, other, counts_of(1, 2, 3, 4), MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Reduce_scatter_block_init(buffer, other, 2, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Bcast_init(buffer, 5, MPI_INT, 1, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Scatter_init(buffer, root ? 2 : -7, root ? MPI_INT : MPI_DATATYPE_NULL, other, 2, MPI_INT, 1, WORLD,
                     MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Scatterv_init(buffer, root ? counts_of(1, 2, 3, 4) : poison, root ? displs : poison,
                      root ? MPI_INT : MPI_DATATYPE_NULL, other, rank + 1, MPI_INT, 1, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Reduce_init(buffer, other, 2, MPI_INT, MPI_SUM, 1, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Gather_init(buffer, 2, MPI_INT, other, root ? 2 : -7, root ? MPI_INT : MPI_DATATYPE_NULL, 1, WORLD,
                    MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Gatherv_init(buffer, rank + 1, MPI_INT, other, root ? counts_of(1, 2, 3, 4) : poison, root ? displs : poison,
                     root ? MPI_INT : MPI_DATATYPE_NULL, 1, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Scan_init(buffer, other, 2, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Exscan_init(buffer, other, 2, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
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
    MPI_Neighbor_allgather_init(buffer, 1, MPI_INT, space[0], 1, MPI_INT, ring, MPI_INFO_NULL, &requests[0]);
    MPI_Neighbor_allgatherv_init(buffer, rank + 1, MPI_INT, space[1],
                                 counts_of((rank + 2) % 3 + 1, (rank + 1) % 3 + 1, 0, 0), counts_of(0, 10, 0, 0),
                                 MPI_INT, ring, MPI_INFO_NULL, &requests[1]);
    MPI_Neighbor_alltoall_init(buffer, 3, MPI_INT, space[2], 3, MPI_INT, ring, MPI_INFO_NULL, &requests[2]);
    MPI_Neighbor_alltoallv_init(buffer, counts_of(1, 2, 0, 0), counts_of(0, 10, 0, 0), MPI_INT, space[3],
                                counts_of(2, 1, 0, 0), counts_of(0, 10, 0, 0), MPI_INT, ring, MPI_INFO_NULL,
                                &requests[3]);
    MPI_Neighbor_alltoallw_init(buffer, counts_of(1, 2, 0, 0), displs, types, space[4], counts_of(2, 1, 0, 0), displs,
                                received, ring, MPI_INFO_NULL, &requests[4]);
    MPI_Startall(5, requests);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 5; ++i) {
        MPI_Request_free(&requests[i]);
    }
    MPI_Comm_free(&ring);
}

/* On 2 ranks: messages and collectives that begin together, in an array of another order, with one that is not started
 * and one without a message. */
static void started_together(void)
{
    enum { count = 5 };
    MPI_Request requests[count], idle;
    const int peer = 1 - rank;
    MPI_Bcast_init(buffer, 3, MPI_INT, 1, WORLD, MPI_INFO_NULL, &requests[3]);
    MPI_Allreduce_init(&rank, other, 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &idle);
    MPI_Send_init(&rank, 1, MPI_INT, peer, 4, WORLD, &requests[0]);
    MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
    MPI_Recv_init(other, 1, MPI_INT, peer, 4, WORLD, &requests[2]);
    MPI_Send_init(&rank, 1, MPI_INT, MPI_PROC_NULL, 4, WORLD, &requests[4]);
    for (int i = 0; i < 2; ++i) {
        MPI_Startall(count, requests);
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        CHECK(other[0] == peer);
    }
    MPI_Request_free(&idle);
    for (int i = 0; i < count; ++i) {
        MPI_Request_free(&requests[i]);
    }
}

/* On 2 ranks: a persistent collective in part while nothing is recorded. */
static void switched_off(void)
{
    MPI_Request request;
    MPI_Barrier_init(WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; ++i) {
        MPI_Pcontrol(i == 1 ? 0 : 1);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Barrier(WORLD);
}

static void errors(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int error;
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Bcast_init(buffer, 1, MPI_INT, 99, WORLD, MPI_INFO_NULL, &request), &error);
    printf("%d %d\n", error == MPI_ERR_ROOT, request == MPI_REQUEST_NULL);
}

#if MPI_VERSION >= 4
/* On 2 ranks. Without MPI_PROC_NULL, at which MPICH 4.0 crashes. */
static void isendrecv(void)
{
    MPI_Request request;
    const int peer = 1 - rank;
    MPI_Isendrecv(&rank, 1, MPI_INT, peer, 5 + rank, other, 8, MPI_INT, peer, 5 + peer, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(other[0] == peer);
    other[0] = rank;
    MPI_Isendrecv_replace(other, 1, MPI_INT, peer, 7, peer, 7, WORLD, &request);
    for (int flag = 0; !flag;) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    CHECK(other[0] == peer);
}

/* On 2 ranks: rank 0 sends four partitions twice, which rank 1 takes as two; beside an ordinary message. */
static void partitioned(void)
{
    MPI_Request request, plain;
    const int last[1] = {3};
    if (rank == 0) {
        MPI_Psend_init(buffer, 4, 16, MPI_INT, 1, 3, WORLD, MPI_INFO_NULL, &request);
    } else {
        MPI_Precv_init(buffer, 2, 32, MPI_INT, 0, 3, WORLD, MPI_INFO_NULL, &request);
    }
    for (int round = 0; round < 2; ++round) {
        buffer[63] = rank == 0 ? 7 + round : 0;
        MPI_Start(&request);
        if (rank == 0) {
            MPI_Isend(buffer, 1, MPI_INT, 1, 3, WORLD, &plain);
            MPI_Pready(2, request);
            MPI_Pready_range(0, 1, request);
            MPI_Pready_list(1, (int*)last, request);
        } else {
            MPI_Irecv(other, 1, MPI_INT, 0, 3, WORLD, &plain);
            for (int i = 0, flag = 0; i < 2; i += flag) {
                MPI_Parrived(request, i, &flag);
            }
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Wait(&plain, MPI_STATUS_IGNORE);
        CHECK(buffer[63] == 7 + round);
    }
    MPI_Request_free(&request);
}
#endif

static const struct Case cases[] = {
    {"collectives", collectives},   {"neighbours", neighbours},   {"started_together", started_together},
    {"switched_off", switched_off}, {"errors", errors},
#if MPI_VERSION >= 4
    {"isendrecv", isendrecv},       {"partitioned", partitioned},
#endif
};

int main(int argc, char** argv)
{
    return run_cases(argc, argv, cases, sizeof cases / sizeof *cases, MPI_THREAD_SINGLE);
}

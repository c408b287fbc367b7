/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the blocking collectives and the communicators whose records collectives_test.py expects: one function a case,
 * named by the first argument. */
#include "cases.h"

static int buffer[1024], other[1024];

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

static const struct Case cases[] = {
    {"collectives", collectives}, {"null_types", null_types}, {"in_place", in_place},
    {"neighbours", neighbours},   {"graphs", graphs},         {"communicators", communicators},
};

int main(int argc, char** argv)
{
    return run_cases(argc, argv, cases, sizeof cases / sizeof *cases, MPI_THREAD_SINGLE);
}

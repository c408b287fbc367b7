// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: mpirun -n 2 calls FILE
//
// Calls of each semantic class, in an order that leaves the same records each time. calls.F90 does the same in Fortran,
// call by call.
#include <mpi.h>

#include <stdlib.h>

static int rank, other;
static int a[64], b[64];
static const int counts[2] = {1, 2}, displs[2] = {0, 4};

static void messages(void)
{
    MPI_Status status;
    int flag;
    static char buffer[4096];
    void* detached;
    int size;
    MPI_Buffer_attach(buffer, sizeof buffer);
    if (rank == 0) {
        MPI_Send(a, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Bsend(a, 2, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Ssend(a, 3, MPI_INT, 1, 3, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Rsend(a, 4, MPI_INT, 1, 4, MPI_COMM_WORLD);
        MPI_Send(a, 4, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD);
    } else {
        MPI_Recv(b, 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(b, 64, MPI_INT, 0, 2, MPI_COMM_WORLD, &status);
        MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
        MPI_Recv(b, 64, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
        MPI_Request request;
        MPI_Irecv(b, 64, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(b, 64, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Buffer_detach(&detached, &size);
    MPI_Sendrecv(a, 5, MPI_INT, other, 5, b, 64, MPI_INT, other, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(a, 6, MPI_INT, other, 6, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &status);
    if (rank == 0) {
        for (int tag = 7; tag <= 9; ++tag) {
            MPI_Send(a, tag, MPI_INT, 1, tag, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Message message;
        MPI_Request request;
        do {
            MPI_Iprobe(0, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        } while (!flag);
        MPI_Recv(b, 64, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Mprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(b, 64, MPI_INT, &message, MPI_STATUS_IGNORE);
        do {
            MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
        } while (!flag);
        MPI_Imrecv(b, 64, MPI_INT, &message, &request);
        MPI_Wait(&request, &status);
    }
}

static void requests(void)
{
    MPI_Request r[4];
    MPI_Status s[4];
    int flag, index, count, indices[4];
    MPI_Irecv(b, 16, MPI_INT, other, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(b + 16, 16, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(a, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Issend(a, 2, MPI_INT, other, 2, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, r, s);
    MPI_Irecv(b, 16, MPI_INT, other, 3, MPI_COMM_WORLD, &r[0]);
    r[1] = MPI_REQUEST_NULL;
    MPI_Irsend(a, 3, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r[2]);
    MPI_Send(a, 3, MPI_INT, other, 3, MPI_COMM_WORLD);
    MPI_Wait(&r[2], &s[0]);
    MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
    MPI_Waitany(2, r, &index, &s[0]);
    MPI_Testany(2, r, &index, &flag, &s[0]);
    MPI_Testsome(2, r, &count, indices, s);
    MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    MPI_Recv_init(b, 16, MPI_INT, other, 4, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(a, 4, MPI_INT, other, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Ssend_init(a, 5, MPI_INT, other, 4, MPI_COMM_WORLD, &r[2]);
    for (int i = 0; i < 2; ++i) {
        MPI_Startall(2, r);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        MPI_Request some[2] = {MPI_REQUEST_NULL, r[0]};
        MPI_Waitsome(2, some, &count, indices, i == 0 ? s : MPI_STATUSES_IGNORE);
    }
    MPI_Start(&r[0]);
    MPI_Start(&r[2]);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], &s[0]);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Request_free(&r[2]);
    MPI_Irecv(b, 16, MPI_INT, other, 99, MPI_COMM_WORLD, &r[0]);
    MPI_Request_get_status(r[0], &flag, MPI_STATUS_IGNORE);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], &s[0]);
    MPI_Irecv(b, 16, MPI_INT, other, 6, MPI_COMM_WORLD, &r[0]);
    for (int i = 0; i < 5; ++i) {
        MPI_Testall(1, r, &flag, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(a, 6, MPI_INT, other, 6, MPI_COMM_WORLD);
    MPI_Wait(&r[0], &s[0]);
    MPI_Irecv(b, 16, MPI_INT, other, 5, MPI_COMM_WORLD, &r[0]);
    MPI_Bsend_init(a, 5, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &r[1]);
    MPI_Request_free(&r[1]);
    MPI_Send(a, 5, MPI_INT, other, 5, MPI_COMM_WORLD);
    do {
        MPI_Test(&r[0], &flag, &s[0]);
    } while (!flag);
}

static void collectives(void)
{
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    const int bytes[2] = {0, 64};
    MPI_Allreduce(a, b, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, b, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allgather(a, 2, MPI_INT, b, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, b, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(a, rank == 0 ? counts : (int[2]){2, 2}, displs, MPI_INT, b,
                  rank == 0 ? (int[2]){1, 2} : (int[2]){2, 2}, displs, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallw(a, (int[2]){1, 1}, bytes, rank == 0 ? (MPI_Datatype[2]){MPI_INT, MPI_INT} : types, b, (int[2]){1, 1},
                  bytes, rank == 0 ? (MPI_Datatype[2]){MPI_INT, MPI_INT} : (MPI_Datatype[2]){MPI_INT, MPI_DOUBLE},
                  MPI_COMM_WORLD);
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, b, (int[2]){1, 1}, bytes, (MPI_Datatype[2]){MPI_INT, MPI_INT},
                  MPI_COMM_WORLD);
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(a, 7, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Scatter(a, 3, MPI_INT, rank == 0 ? MPI_IN_PLACE : b, 3, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatterv(a, counts, displs, MPI_INT, b, counts[rank], MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : a, a, 3, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Gather(rank == 1 ? MPI_IN_PLACE : a, 2, MPI_INT, b, 2, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Gatherv(a, counts[rank], MPI_INT, b, counts, displs, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scan(a, b, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(a, b, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Request r[3];
    MPI_Ibarrier(MPI_COMM_WORLD, &r[0]);
    MPI_Ibcast(a, 3, MPI_INT, 0, MPI_COMM_WORLD, &r[1]);
    MPI_Iallreduce(MPI_IN_PLACE, b, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[2]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    MPI_Ialltoallw(a, (int[2]){1, 1}, bytes, (MPI_Datatype[2]){MPI_INT, MPI_INT}, b, (int[2]){1, 1}, bytes,
                   (MPI_Datatype[2]){MPI_INT, MPI_INT}, MPI_COMM_WORLD, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
}

static void communicators(void)
{
    MPI_Comm world = MPI_COMM_WORLD, dup, split, cart, sub, graph, dist, adjacent, inter, merged, made, grouped, idup;
    MPI_Group group;
    MPI_Request request;
    const int dims[1] = {2}, periods[1] = {1}, remain[1] = {1}, index[2] = {1, 2}, edges[2] = {1, 0};
    MPI_Comm_dup(world, &dup);
    MPI_Comm_dup_with_info(world, MPI_INFO_NULL, &made);
    MPI_Comm_free(&made);
    MPI_Comm_split(world, rank == 0 ? 1 : MPI_UNDEFINED, 0, &split);
    if (split != MPI_COMM_NULL) {
        MPI_Barrier(split);
        MPI_Comm_disconnect(&split);
    }
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &split);
    MPI_Comm_free(&split);
    MPI_Comm_group(world, &group);
    MPI_Comm_create(dup, group, &made);
    MPI_Comm_free(&made);
    MPI_Comm_create_group(world, group, 3, &grouped);
    MPI_Barrier(grouped);
    MPI_Comm_free(&grouped);
    MPI_Group_free(&group);
    MPI_Comm_idup(world, &idup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(idup);
    MPI_Comm_free(&idup);
    MPI_Cart_create(world, 1, dims, periods, 0, &cart);
    MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, cart);
    MPI_Cart_sub(cart, remain, &sub);
    MPI_Comm_free(&sub);
    MPI_Comm_free(&cart);
    MPI_Graph_create(world, 2, index, edges, 0, &graph);
    MPI_Neighbor_alltoall(a, 3, MPI_INT, b, 3, MPI_INT, graph);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create(world, 1, &rank, (int[1]){1}, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &dist);
    MPI_Comm_free(&dist);
    MPI_Dist_graph_create_adjacent(world, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &adjacent);
    MPI_Neighbor_alltoallv(a, (int[1]){2}, (int[1]){0}, MPI_INT, b, (int[1]){2}, (int[1]){0}, MPI_INT, adjacent);
    MPI_Neighbor_alltoallw(a, (int[1]){2}, (MPI_Aint[1]){0}, (MPI_Datatype[1]){MPI_INT}, b, (int[1]){2},
                           (MPI_Aint[1]){0}, (MPI_Datatype[1]){MPI_INT}, adjacent);
    MPI_Comm_free(&adjacent);
    MPI_Comm_split(world, rank, 0, &split);
    MPI_Intercomm_create(split, 0, world, other, 5, &inter);
    MPI_Bcast(a, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, inter);
    MPI_Intercomm_merge(inter, rank, &merged);
    MPI_Barrier(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&split);
    MPI_Comm_free(&dup);
}

static void windows(void)
{
    static int memory[16];
    int *allocated, flag;
    MPI_Win win;
    MPI_Group group, world;
    MPI_Request request;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(a, 2, MPI_INT, other, 0, 2, MPI_INT, win);
    MPI_Get(b, 3, MPI_INT, other, 4, 3, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &group);
    MPI_Win_post(group, 0, win);
    MPI_Win_start(group, 0, win);
    MPI_Accumulate(a, 1, MPI_INT, other, 8, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_post(group, 0, win);
    MPI_Win_start(group, 0, win);
    MPI_Win_complete(win);
    MPI_Barrier(MPI_COMM_WORLD);
    do {
        MPI_Win_test(win, &flag);
    } while (!flag);
    MPI_Win_free(&win);
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win);
    MPI_Rput(a, 2, MPI_INT, other, 0, 2, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(other, win);
    MPI_Win_unlock(other, win);
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(a, b, MPI_INT, other, 3, MPI_NO_OP, win);
    MPI_Compare_and_swap(a, a, b, MPI_INT, other, 3, win);
    MPI_Get_accumulate(a, 1, MPI_INT, b, 1, MPI_INT, other, 3, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush_all(win);
    MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void files(const char* name)
{
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, rank * 4, a, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_read_at_all(file, rank * 4, b, 4, MPI_INT, &status);
    MPI_File_iwrite_at(file, rank * 4, a, 3, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_at_all_begin(file, rank * 4, b, 2, MPI_INT);
    MPI_File_read_at_all_end(file, b, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void local_work(void)
{
    char packed[64];
    int position = 0;
    void* memory;
    MPI_Pack(a, 2, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
    position = 0;
    MPI_Unpack(packed, sizeof packed, &position, b, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Alloc_mem(64, MPI_INFO_NULL, &memory);
    MPI_Free_mem(memory);
    MPI_Pcontrol(7);
}

int main(int argc, char** argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    messages();
    requests();
    collectives();
    communicators();
    windows();
    files(argv[1]);
    local_work();
    MPI_Finalize();
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// usage: mpirun -n 2 others FILE
//
// The recorded functions that calls.c does not call, once each. others.F90 does the same in Fortran, call by call.
#include <mpi.h>
#if MPI_VERSION < 4
#include "../../mpi_4.h"

#include <mpi-ext.h>
#endif

static int rank, other;
static int a[64], b[16][16];
static const int counts[2] = {1, 2}, displs[2] = {0, 4}, twos[2] = {2, 2}, zeros[2] = {0, 0};
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static void messages(void)
{
    static char buffer[4096];
    void* detached;
    int size;
    MPI_Request request;
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Ibsend(a, 3, MPI_INT, other, 1, WORLD, &request);
    MPI_Recv(b, 64, MPI_INT, other, 1, WORLD, IGNORE);
    MPI_Wait(&request, IGNORE);
    MPI_Buffer_detach(&detached, &size);
    MPI_Rsend_init(a, 2, MPI_INT, MPI_PROC_NULL, 2, WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, IGNORE);
    MPI_Request_free(&request);
}

static void collectives(void)
{
    MPI_Request r[13];
    MPI_Iallgather(a, 2, MPI_INT, b[0], 2, MPI_INT, WORLD, &r[0]);
    MPI_Iallgatherv(a, counts[rank], MPI_INT, b[1], counts, displs, MPI_INT, WORLD, &r[1]);
    MPI_Ialltoall(a, 2, MPI_INT, b[2], 2, MPI_INT, WORLD, &r[2]);
    MPI_Ialltoallv(a, twos, displs, MPI_INT, b[3], twos, displs, MPI_INT, WORLD, &r[3]);
    MPI_Ireduce_scatter(a, b[4], counts, MPI_INT, MPI_SUM, WORLD, &r[4]);
    MPI_Ireduce_scatter_block(a, b[5], 2, MPI_INT, MPI_SUM, WORLD, &r[5]);
    MPI_Iscatter(a, 3, MPI_INT, b[6], 3, MPI_INT, 1, WORLD, &r[6]);
    MPI_Iscatterv(a, counts, displs, MPI_INT, b[7], counts[rank], MPI_INT, 1, WORLD, &r[7]);
    MPI_Ireduce(a, b[8], 3, MPI_INT, MPI_MAX, 0, WORLD, &r[8]);
    MPI_Igather(a, 2, MPI_INT, b[9], 2, MPI_INT, 1, WORLD, &r[9]);
    MPI_Igatherv(a, counts[rank], MPI_INT, b[10], counts, displs, MPI_INT, 0, WORLD, &r[10]);
    MPI_Iscan(a, b[11], 2, MPI_INT, MPI_SUM, WORLD, &r[11]);
    MPI_Iexscan(a, b[12], 2, MPI_INT, MPI_SUM, WORLD, &r[12]);
    MPI_Waitall(13, r, MPI_STATUSES_IGNORE);
}

static void neighbours(void)
{
    const MPI_Aint bytes[1] = {0};
    const MPI_Datatype types[1] = {MPI_INT};
    MPI_Comm graph;
    MPI_Request r[5];
    MPI_Dist_graph_create_adjacent(WORLD, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    MPI_Neighbor_allgatherv(a, 2, MPI_INT, b[0], twos, zeros, MPI_INT, graph);
    MPI_Ineighbor_allgather(a, 1, MPI_INT, b[1], 1, MPI_INT, graph, &r[0]);
    MPI_Ineighbor_allgatherv(a, 2, MPI_INT, b[2], twos, zeros, MPI_INT, graph, &r[1]);
    MPI_Ineighbor_alltoall(a, 3, MPI_INT, b[3], 3, MPI_INT, graph, &r[2]);
    MPI_Ineighbor_alltoallv(a, twos, zeros, MPI_INT, b[4], twos, zeros, MPI_INT, graph, &r[3]);
    MPI_Ineighbor_alltoallw(a, twos, bytes, types, b[5], twos, bytes, types, graph, &r[4]);
    MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&graph);
}

/* One at a time: MPICH 4.0 hangs where several have been initialised. */
static void perform(MPI_Request* request)
{
    MPI_Start(request);
    MPI_Wait(request, IGNORE);
    MPI_Request_free(request);
}

static void persistent(void)
{
    const MPI_Aint bytes[1] = {0};
    const MPI_Datatype types[1] = {MPI_INT}, integers[2] = {MPI_INT, MPI_INT};
    MPI_Comm graph;
    MPI_Request request;
    MPI_Dist_graph_create_adjacent(WORLD, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    MPI_Barrier_init(WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Bcast_init(a, 3, MPI_INT, 0, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Allreduce_init(a, b[0], 3, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Alltoallw_init(a, twos, displs, integers, b[1], twos, displs, integers, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Allgather_init(a, 2, MPI_INT, b[2], 2, MPI_INT, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Allgatherv_init(a, counts[rank], MPI_INT, b[3], counts, displs, MPI_INT, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Alltoall_init(a, 2, MPI_INT, b[4], 2, MPI_INT, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Alltoallv_init(a, twos, displs, MPI_INT, b[5], twos, displs, MPI_INT, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Reduce_scatter_init(a, b[6], counts, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Reduce_scatter_block_init(a, b[7], 2, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Scatter_init(a, 3, MPI_INT, b[8], 3, MPI_INT, 1, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Scatterv_init(a, counts, displs, MPI_INT, b[9], counts[rank], MPI_INT, 1, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Reduce_init(a, b[10], 3, MPI_INT, MPI_MAX, 0, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Gather_init(a, 2, MPI_INT, b[11], 2, MPI_INT, 1, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Gatherv_init(a, counts[rank], MPI_INT, b[12], counts, displs, MPI_INT, 0, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Scan_init(a, b[13], 2, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Exscan_init(a, b[14], 2, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Neighbor_allgather_init(a, 1, MPI_INT, b[0], 1, MPI_INT, graph, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Neighbor_allgatherv_init(a, 2, MPI_INT, b[1], twos, zeros, MPI_INT, graph, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Neighbor_alltoall_init(a, 3, MPI_INT, b[2], 3, MPI_INT, graph, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Neighbor_alltoallv_init(a, twos, zeros, MPI_INT, b[3], twos, zeros, MPI_INT, graph, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Neighbor_alltoallw_init(a, twos, bytes, types, b[4], twos, bytes, types, graph, MPI_INFO_NULL, &request);
    perform(&request);
    MPI_Comm_free(&graph);
#if MPI_VERSION >= 4
    MPI_Isendrecv(a, 2, MPI_INT, other, 6, b, 3, MPI_INT, other, 6, WORLD, &request);
    MPI_Wait(&request, IGNORE);
    MPI_Isendrecv_replace(a, 2, MPI_INT, other, 7, other, 7, WORLD, &request);
    MPI_Wait(&request, IGNORE);
    int last[1] = {3};
    if (rank == 0) {
        MPI_Psend_init(a, 4, 2, MPI_INT, 1, 8, WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(2, request);
        MPI_Pready_range(0, 1, request);
        MPI_Pready_list(1, last, request);
    } else {
        MPI_Precv_init(a, 4, 2, MPI_INT, 0, 8, WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    MPI_Wait(&request, IGNORE);
    MPI_Request_free(&request);
#endif
}

static void windows(void)
{
    static int memory[16];
    MPI_Win win;
    MPI_Request r[3];
    MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &win);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
    MPI_Win_lock_all(0, win);
    MPI_Rget(b[0], 3, MPI_INT, other, 4, 3, MPI_INT, win, &r[0]);
    MPI_Raccumulate(a, 1, MPI_INT, other, 8, 1, MPI_INT, MPI_SUM, win, &r[1]);
    MPI_Rget_accumulate(a, 1, MPI_INT, b[1], 1, MPI_INT, other, 3, 1, MPI_INT, MPI_SUM, win, &r[2]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    MPI_Win_flush_local(other, win);
    MPI_Win_flush_local_all(win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

// The file has its size from the beginning, so that what is read does not depend on who is first.
static void files(const char* name)
{
    MPI_File file;
    MPI_Info info;
    MPI_Offset place;
    MPI_Request request;
    MPI_Info_create(&info);
    MPI_File_open(WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_size(file, 4096);
    MPI_File_preallocate(file, 4096);
    MPI_File_get_size(file, &place);
    MPI_File_set_atomicity(file, 0);
    MPI_File_set_info(file, info);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write(file, a, 4, MPI_INT, IGNORE);
    MPI_File_read(file, b, 5, MPI_INT, IGNORE);
    MPI_File_write_all(file, a, 3, MPI_INT, IGNORE);
    MPI_File_read_all(file, b, 2, MPI_INT, IGNORE);
    MPI_File_write_shared(file, a, 2, MPI_INT, IGNORE);
    MPI_File_read_shared(file, b, 1, MPI_INT, IGNORE);
    MPI_Barrier(WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_get_position_shared(file, &place);
    MPI_Barrier(WORLD);
    MPI_File_write_ordered(file, a, rank + 1, MPI_INT, IGNORE);
    MPI_File_read_ordered(file, b, 2, MPI_INT, IGNORE);
    MPI_File_iwrite(file, a, 3, MPI_INT, &request);
    MPI_Wait(&request, IGNORE);
    MPI_File_iread(file, b, 2, MPI_INT, &request);
    MPI_Wait(&request, IGNORE);
    MPI_File_iread_at(file, 3, b, 4, MPI_INT, &request);
    MPI_Wait(&request, IGNORE);
    MPI_File_iwrite_shared(file, a, 1, MPI_INT, &request);
    MPI_Wait(&request, IGNORE);
    MPI_File_iread_shared(file, b, 1, MPI_INT, &request);
    MPI_Wait(&request, IGNORE);
    MPI_File_iwrite_all(file, a, 2, MPI_INT, &request);
    MPI_Wait(&request, IGNORE);
    MPI_File_iread_all(file, b, 3, MPI_INT, &request);
    MPI_Wait(&request, IGNORE);
    MPI_File_iwrite_at_all(file, 4 * rank, a, 4, MPI_INT, &request);
    MPI_Wait(&request, IGNORE);
    MPI_File_iread_at_all(file, 4 * rank, b, 2, MPI_INT, &request);
    MPI_Wait(&request, IGNORE);
    MPI_File_write_at_all_begin(file, 4 * rank, a, 4, MPI_INT);
    MPI_File_write_at_all_end(file, a, IGNORE);
    MPI_File_write_all_begin(file, a, 3, MPI_INT);
    MPI_File_write_all_end(file, a, IGNORE);
    MPI_File_read_all_begin(file, b, 2, MPI_INT);
    MPI_File_read_all_end(file, b, IGNORE);
    MPI_File_write_ordered_begin(file, a, 1, MPI_INT);
    MPI_File_write_ordered_end(file, a, IGNORE);
    MPI_File_read_ordered_begin(file, b, 2, MPI_INT);
    MPI_File_read_ordered_end(file, b, IGNORE);
    MPI_File_close(&file);
    MPI_Info_free(&info);
}

static void local_work(void)
{
    const int dims[1] = {2}, periods[1] = {1}, index[2] = {1, 2}, edges[2] = {1, 0};
    char packed[64];
    MPI_Aint position = 0;
    int place;
    MPI_Pack_external("external32", a, 2, MPI_INT, packed, 64, &position);
    position = 0;
    MPI_Unpack_external("external32", packed, 64, &position, b, 2, MPI_INT);
    MPI_Reduce_local(a, b, 2, MPI_INT, MPI_SUM);
    MPI_Cart_map(WORLD, 1, dims, periods, &place);
    MPI_Graph_map(WORLD, 2, index, edges, &place);
}

// Debian's MPICH has no ports.
static void ports(void)
{
#ifdef OPEN_MPI
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME];
    MPI_Comm peer;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("critpath in fortran", MPI_INFO_NULL, port);
        MPI_Lookup_name("critpath in fortran", MPI_INFO_NULL, found);
        MPI_Unpublish_name("critpath in fortran", MPI_INFO_NULL, port);
        MPI_Send(found, 1000, MPI_CHAR, 1, 1, WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &peer);
        MPI_Close_port(port);
    } else {
        MPI_Recv(port, 1000, MPI_CHAR, 0, 1, WORLD, IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &peer);
    }
    MPI_Comm_disconnect(&peer);
#endif
}

int main(int argc, char** argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(WORLD, &rank);
    other = 1 - rank;
    messages();
    collectives();
    neighbours();
    persistent();
    windows();
    files(argv[1]);
    local_work();
    ports();
    MPI_Finalize();
    return 0;
}

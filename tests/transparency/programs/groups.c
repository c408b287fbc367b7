// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// 3 ranks. Collectives with MPI_IN_PLACE and with arguments that do not count on this rank, communicators between
// groups, callbacks of attributes, MPI_Comm_idup between messages, error handlers of windows and files.
#include "see.h"

#include <unistd.h>

enum { ranks = 3 };
static const int ones[ranks] = {1, 1, 1}, places[ranks] = {0, 1, 2};
static int data[ranks], more[ranks];
static MPI_Request request = MPI_REQUEST_NULL;

static void fill(void)
{
    for (int i = 0; i < ranks; ++i) {
        data[i] = 100 * rank + i;
        more[i] = -1;
    }
}

// Waits if there is something to wait for.
static void see(const char* what, int code)
{
    MPI_Status status = poisoned();
    see_code(what, code);
    if (request != MPI_REQUEST_NULL) {
        see_code("Wait", MPI_Wait(&request, &status));
        say("status: source %d tag %d error %d", status.MPI_SOURCE, status.MPI_TAG, status.MPI_ERROR);
        see_requests("Wait", &request, 1);
    }
    see_ints(what, data, ranks);
    see_ints(what, more, ranks);
    fill();
}

#define WORLD MPI_COMM_WORLD
static void in_place(void)
{
    const MPI_Datatype types[ranks] = {MPI_INT, MPI_INT, MPI_INT};
    const int bytes[ranks] = {0, sizeof(int), 2 * sizeof(int)};
    fill();
    see("Allreduce", MPI_Allreduce(MPI_IN_PLACE, data, 3, MPI_INT, MPI_SUM, WORLD));
    see("Iallreduce", MPI_Iallreduce(MPI_IN_PLACE, data, 3, MPI_INT, MPI_SUM, WORLD, &request));
    see("Allgather", MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_INT, WORLD));
    see("Iallgather", MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_INT, WORLD, &request));
    see("Allgatherv", MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, ones, places, MPI_INT, WORLD));
    see("Iallgatherv",
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, ones, places, MPI_INT, WORLD, &request));
    see("Alltoall", MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_INT, WORLD));
    see("Alltoallv", MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, ones, places, MPI_INT, WORLD));
    see("Alltoallw", MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, ones, bytes, types, WORLD));
    see("Ialltoall", MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_INT, WORLD, &request));
    see("Ialltoallv",
        MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, ones, places, MPI_INT, WORLD, &request));
    see("Ialltoallw", MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, ones, bytes, types, WORLD, &request));
    see("Reduce_scatter", MPI_Reduce_scatter(MPI_IN_PLACE, data, ones, MPI_INT, MPI_SUM, WORLD));
    see("Ireduce_scatter", MPI_Ireduce_scatter(MPI_IN_PLACE, data, ones, MPI_INT, MPI_SUM, WORLD, &request));
    see("Reduce_scatter_block", MPI_Reduce_scatter_block(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, WORLD));
    see("Ireduce_scatter_block", MPI_Ireduce_scatter_block(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, WORLD, &request));
    see("Scan", MPI_Scan(MPI_IN_PLACE, data, 2, MPI_INT, MPI_SUM, WORLD));
    see("Iscan", MPI_Iscan(MPI_IN_PLACE, data, 2, MPI_INT, MPI_SUM, WORLD, &request));
    see("Exscan", MPI_Exscan(MPI_IN_PLACE, data, 2, MPI_INT, MPI_SUM, WORLD));
    see("Iexscan", MPI_Iexscan(MPI_IN_PLACE, data, 2, MPI_INT, MPI_SUM, WORLD, &request));
}

// What does not count on a rank may be anything.
static void rooted(int root)
{
    const int is_root = rank == root;
    const int* const counts = is_root ? ones : NULL;
    const int* const displacements = is_root ? places : NULL;
    int* const there = is_root ? data : NULL;
    const int count = is_root ? 1 : -1;
    const MPI_Datatype type = is_root ? MPI_INT : MPI_DATATYPE_NULL;
    void* const from = is_root ? MPI_IN_PLACE : (void*)data;
    void* const to = is_root ? MPI_IN_PLACE : (void*)more;
    say("-- root %d", root);
    fill();
    see("Reduce", MPI_Reduce(from, there, 3, MPI_INT, MPI_MAX, root, WORLD));
    see("Ireduce", MPI_Ireduce(from, there, 3, MPI_INT, MPI_MAX, root, WORLD, &request));
    see("Gather", MPI_Gather(from, 1, MPI_INT, there, count, type, root, WORLD));
    see("Igather", MPI_Igather(from, 1, MPI_INT, there, count, type, root, WORLD, &request));
    see("Gatherv", MPI_Gatherv(from, 1, MPI_INT, there, counts, displacements, type, root, WORLD));
    see("Igatherv", MPI_Igatherv(from, 1, MPI_INT, there, counts, displacements, type, root, WORLD, &request));
    see("Scatter", MPI_Scatter(there, count, type, to, 1, MPI_INT, root, WORLD));
    see("Iscatter", MPI_Iscatter(there, count, type, to, 1, MPI_INT, root, WORLD, &request));
    see("Scatterv", MPI_Scatterv(there, counts, displacements, type, to, 1, MPI_INT, root, WORLD));
    see("Iscatterv", MPI_Iscatterv(there, counts, displacements, type, to, 1, MPI_INT, root, WORLD, &request));
    see("Bcast", MPI_Bcast(data, 2, MPI_INT, root, WORLD));
    see("Ibcast", MPI_Ibcast(data, 2, MPI_INT, root, WORLD, &request));
    see("Bcast of nothing", MPI_Bcast(NULL, 0, MPI_INT, root, WORLD));
    see("Barrier", MPI_Barrier(WORLD));
    see("Ibarrier", MPI_Ibarrier(WORLD, &request));
}

static void in_place_and_rooted(void)
{
    in_place();
    rooted(0);
    rooted(2);
}

// Rank 0 on one side, the others on the other.
static void between_groups(void)
{
    MPI_Comm half, inter, merged, copy;
    int remote, flag, members;
    MPI_Comm_split(WORLD, rank > 0, 0, &half);
    see_code("Intercomm_create", MPI_Intercomm_create(half, 0, WORLD, rank == 0 ? 1 : 0, 5, &inter));
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_remote_size(inter, &remote);
    say("inter %d, remote size %d", flag, remote);
    const int root = rank == 0 ? MPI_ROOT : 0;
    const int back = rank == 0 ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL;
    fill();
    see("Bcast", MPI_Bcast(data, 2, MPI_INT, root, inter));
    see("Bcast back", MPI_Bcast(data, 2, MPI_INT, back, inter));
    // MPICH looks at the buffers that are not used, too.
    see("Reduce", rank == 0 ? MPI_Reduce(more, data, 2, MPI_INT, MPI_SUM, root, inter)
                            : MPI_Reduce(data, more, 2, MPI_INT, MPI_SUM, root, inter));
    see("Gather", rank == 0 ? MPI_Gather(NULL, 0, MPI_INT, data, 1, MPI_INT, root, inter)
                            : MPI_Gather(data, 1, MPI_INT, NULL, 0, MPI_INT, root, inter));
    see("Allgather", MPI_Allgather(&rank, 1, MPI_INT, data, 1, MPI_INT, inter));
    see("Allreduce", MPI_Allreduce(data, more, 3, MPI_INT, MPI_SUM, inter));
    see("Ibcast", MPI_Ibcast(data, 2, MPI_INT, root, inter, &request));
    see("Barrier", MPI_Barrier(inter));
    MPI_Status status = poisoned();
    if (rank < 2) {
        see_code("Sendrecv",
                 MPI_Sendrecv(&rank, 1, MPI_INT, 0, 6, more, 1, MPI_INT, MPI_ANY_SOURCE, 6, inter, &status));
        see_status("Sendrecv", &status);
    }
    see_code("Comm_dup", MPI_Comm_dup(inter, &copy));
    see_code("Intercomm_merge", MPI_Intercomm_merge(copy, rank == 0, &merged));
    MPI_Comm_rank(merged, &members);
    say("my rank among all is %d", members);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    see_code("Comm_split", MPI_Comm_split(WORLD, rank == 1 ? MPI_UNDEFINED : 0, -rank, &half));
    say("I have a part: %d, a freed communicator is null: %d", half != MPI_COMM_NULL, copy == MPI_COMM_NULL);
    if (half != MPI_COMM_NULL)
        MPI_Comm_free(&half);
}

static int keys[3];

static int copy_attribute(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag)
{
    int members, mine = 1, sum = 0;
    MPI_Comm_size(comm, &members);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);  // callbacks may call MPI
    say("copy of attribute %d, extra %ld, value %ld, %d members, sum %d",
        key == keys[0]   ? 0
        : key == keys[1] ? 1
                         : 2,
        (long)extra, (long)in, members, sum);
    *(void**)out = (char*)in + 1;
    *flag = (long)extra != 2;
    return (long)in == 99 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra)
{
    int world;
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &world);
    say("delete of attribute %d, extra %ld, value %ld, of the world %d",
        key == keys[0]   ? 0
        : key == keys[1] ? 1
                         : 2,
        (long)extra, (long)value, world == MPI_IDENT);
    return MPI_SUCCESS;
}

static void attributes(void)
{
    MPI_Comm copy, again, part;
    long* value;
    int flag;
    for (long i = 0; i < 3; ++i) {
        MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keys[i], (void*)i);
        MPI_Comm_set_attr(WORLD, keys[i], (void*)(10 * (i + 1)));
    }
    say("keys from the first on: %d %d", keys[1] - keys[0], keys[2] - keys[0]);
    see_code("Comm_dup", MPI_Comm_dup(WORLD, &copy));
    see_code("Comm_dup of the copy", MPI_Comm_dup(copy, &again));
    for (int i = 0; i < 3; ++i) {
        MPI_Comm_get_attr(again, keys[i], &value, &flag);
        say("attribute %d: found %d, value %ld", i, flag, flag ? (long)value : 0);
    }
    see_code("Comm_split", MPI_Comm_split(WORLD, 0, 0, &part));
    see_code("Comm_free of the part", MPI_Comm_free(&part));
    see_code("Comm_free", MPI_Comm_free(&copy));
    see_code("Comm_free", MPI_Comm_free(&again));
    see_code("Comm_idup", MPI_Comm_idup(WORLD, &copy, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    see_code("Comm_free", MPI_Comm_free(&copy));
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_attr(WORLD, keys[2], (void*)99);
    copy = MPI_COMM_NULL;
    see_code("Comm_dup with a callback that fails", MPI_Comm_dup(WORLD, &copy));
    say("the copy is null: %d", copy == MPI_COMM_NULL);
    for (int i = 0; i < 3; ++i)
        see_code("Comm_delete_attr", MPI_Comm_delete_attr(WORLD, keys[i]));
    MPI_Comm_set_attr(MPI_COMM_SELF, keys[0], (void*)7);  // deleted first of all in MPI_Finalize
    MPI_Comm_set_attr(WORLD, keys[1], (void*)8);
}

static void idup_between_messages(void)
{
    MPI_Comm first, second;
    MPI_Request all[4];
    MPI_Status statuses[4];
    int got[2] = {-1, -1};
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    MPI_Irecv(&got[0], 1, MPI_INT, before, 1, WORLD, &all[0]);
    see_code("Comm_idup", MPI_Comm_idup(WORLD, &first, &all[1]));
    MPI_Isend(&rank, 1, MPI_INT, next, 1, WORLD, &all[2]);
    see_code("Comm_idup", MPI_Comm_idup(WORLD, &second, &all[3]));
    see_code("Barrier", MPI_Barrier(WORLD));
    poison(statuses, 4);
    see_code("Waitall", MPI_Waitall(4, all, statuses));
    see_statuses("Waitall", statuses, 1);
    see_requests("Waitall", all, 4);
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 2, &got[1], 1, MPI_INT, before, 2, second, MPI_STATUS_IGNORE);
    see_ints("got", got, 2);
    int order;
    MPI_Comm_compare(first, second, &order);
    say("congruent %d", order == MPI_CONGRUENT);
    MPI_Comm_free(&second);
    MPI_Comm_free(&first);
}

static void handle_window(MPI_Win* window, int* code, ...)
{
    int class;
    MPI_Error_class(*code, &class);
    say("handler of the window: is null %d, class %d", *window == MPI_WIN_NULL, class);
}

static void windows(void)
{
    int shared[4] = {0, 0, 0, 0};
    MPI_Win window;
    MPI_Errhandler handler;
    see_code("Win_create", MPI_Win_create(shared, sizeof shared, sizeof(int), MPI_INFO_NULL, WORLD, &window));
    MPI_Win_create_errhandler(handle_window, &handler);
    MPI_Win_set_errhandler(window, handler);
    MPI_Win_fence(0, window);
    see_code("Put to rank 99", MPI_Put(data, 1, MPI_INT, 99, 0, 1, MPI_INT, window));
    see_code("Get, count -1", MPI_Get(data, -1, MPI_INT, 0, 0, 1, MPI_INT, window));
    see_code("Put to nobody", MPI_Put(&rank, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window));
    see_code("Put", MPI_Put(&rank, 1, MPI_INT, (rank + 1) % ranks, rank, 1, MPI_INT, window));
    MPI_Win_fence(0, window);
    see_ints("shared", shared, 4);
    see_code("Lock of rank 99", MPI_Win_lock(MPI_LOCK_SHARED, 99, 0, window));
    see_code("Win_free", MPI_Win_free(&window));
    say("the window is null: %d", window == MPI_WIN_NULL);
    MPI_Errhandler_free(&handler);
}

static void handle_file(MPI_File* file, int* code, ...)
{
    int class;
    MPI_Error_class(*code, &class);
    say("handler of the file: is null %d, class %d", *file == MPI_FILE_NULL, class);
}

static void files(void)
{
    MPI_File file;
    MPI_Errhandler handler;
    MPI_Status status = poisoned();
    int got[2] = {-1, -1};
    see_code("File_open of nothing", MPI_File_open(WORLD, "does/not/exist", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    MPI_File_create_errhandler(handle_file, &handler);
    see_code("File_set_errhandler", MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    see_code("File_open of nothing", MPI_File_open(WORLD, "does/not/exist", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    see_code("File_open", MPI_File_open(WORLD, "file", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                        MPI_INFO_NULL, &file));
    MPI_File_set_errhandler(file, handler);
    see_code("write", MPI_File_write_at_all(file, 4 * rank, &rank, 1, MPI_INT, &status));
    see_status("write", &status);
    MPI_File_sync(file);
    MPI_Barrier(WORLD);
    MPI_File_sync(file);
    status = poisoned();
    see_code("read", MPI_File_read_at(file, 4 * rank, got, 1, MPI_INT, &status));
    see_status("read", &status);
    see_code("read, count -1", MPI_File_read_at(file, 0, got, -1, MPI_INT, MPI_STATUS_IGNORE));
    see_code("read at -1", MPI_File_read_at(file, -4, got, 1, MPI_INT, &status));
    see_code("iread", MPI_File_iread_at(file, 4 * rank, got + 1, 1, MPI_INT, &request));
    status = poisoned();
    see_code("Wait", MPI_Wait(&request, &status));
    int count;
    MPI_Get_count(&status, MPI_INT, &count);  // the rest is not set by Open MPI
    say("count %d", count);
    see_ints("got", got, 2);
    MPI_Barrier(WORLD);
    see_code("File_close", MPI_File_close(&file));
    say("the file is null: %d", file == MPI_FILE_NULL);
    MPI_Errhandler_free(&handler);
}

static void topologies(void)
{
    MPI_Comm line, alone;
    const int length = ranks, open_ended = 0;
    int sides[2] = {-1, -1};
    see_code("Cart_create", MPI_Cart_create(WORLD, 1, &length, &open_ended, 0, &line));
    see_code("Neighbor_allgather", MPI_Neighbor_allgather(&rank, 1, MPI_INT, sides, 1, MPI_INT, line));
    see_ints("sides", sides, 2);
    see_code("Ineighbor_alltoall", MPI_Ineighbor_alltoall(places, 1, MPI_INT, sides, 1, MPI_INT, line, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    see_ints("sides", sides, 2);
    see_code("Dist_graph_create_adjacent", MPI_Dist_graph_create_adjacent(WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL,
                                                                          MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &alone));
    see_code("Neighbor_alltoallv", MPI_Neighbor_alltoallv(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, alone));
    MPI_Comm_free(&alone);
    MPI_Comm_free(&line);
}

int main(int argc, char** argv)
{
    static const struct Scenario scenarios[] = {SCENARIO(in_place_and_rooted),
                                                SCENARIO(between_groups),
                                                SCENARIO(idup_between_messages),
                                                SCENARIO(windows),
                                                SCENARIO(files),
                                                SCENARIO(topologies),
                                                SCENARIO(attributes)};
    int provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    say("thread level %d", provided);
    run_scenarios(scenarios, sizeof scenarios / sizeof scenarios[0], argc > 1 ? argv[1] : NULL);
    MPI_Finalize();
    int initialized, finalized, version, subversion;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    MPI_Get_version(&version, &subversion);
    say("after the end: initialized %d finalized %d version %d.%d", initialized, finalized, version, subversion);
    return 0;
}

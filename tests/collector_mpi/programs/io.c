/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the file operations whose records and outcome io_test.py expects: one function a case, named by the first
 * argument. Files are made in the directory that is the second one; with a third one MPI is initialised with
 * MPI_THREAD_MULTIPLE. Works on any number of ranks. Prints error classes, statuses, and what was read. */
#include "in_rank_order.h"

#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { cells = 64 };
static int rank, size;
static int data[cells], other[cells];
static const char* directory;
static MPI_Status status;
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static void preset(void)
{
    memset(&status, 0x5a, sizeof status);
}

static void show(const char* call, int code)
{
    int kind;
    MPI_Error_class(code, &kind);
    printf("%d %s: %d, status", rank, call, kind);
    for (size_t i = 0; i < sizeof status; ++i) {
        printf("%s%02x", i % 4 == 0 ? " " : "", ((const unsigned char*)&status)[i]);
    }
    printf("\n");
    preset();
}
#define SHOW(call) show(#call, call)

/* Where MPI has a request, it leaves source and tag of the status to chance. */
static void show_request(const char* call, int code)
{
    int kind;
    MPI_Count bytes;
    MPI_Error_class(code, &kind);
    PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    printf("%d %s: %d, status %x, %llx bytes\n", rank, call, kind, (unsigned)status.MPI_ERROR,
           (unsigned long long)bytes);
    preset();
}
#define SHOW_REQUEST(call) show_request(#call, call)

static void print_other(void)
{
    printf("%d read", rank);
    for (int i = 0; i < 32; ++i) {
        printf(" %d", other[i]);
    }
    printf("\n");
}

static const char* path_of(const char* name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* What one rank has written for another arrives. Out of sight of the collector. */
static void settle(MPI_File file)
{
    PMPI_File_sync(file);
    PMPI_Barrier(WORLD);
}

/* A file in which every rank has 32 numbers of its own. */
static MPI_File make_file(const char* name)
{
    MPI_File file;
    MPI_File_open(WORLD, path_of(name), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, (MPI_Offset)(128 * rank), MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, 0, data, 32, MPI_INT, IGNORE);
    settle(file);
    return file;
}

static void open_close(void)
{
    MPI_File file[4];
    MPI_Comm unknown;
    char name[32];
    const char* long_name = "\u00fc23456789-123456789-123456789-1"; /* the last 31 bytes begin in its first character */
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    PMPI_Comm_dup(WORLD, &unknown); /* out of sight of the collector */
    snprintf(name, sizeof name, "own.%d", rank);
    SHOW(MPI_File_open(WORLD, path_of("first"), mode, MPI_INFO_NULL, &file[0]));
    SHOW(MPI_File_open(WORLD, path_of("missing"), MPI_MODE_RDWR, MPI_INFO_NULL, &file[1]));
    SHOW(MPI_File_open(WORLD, path_of(long_name), mode, MPI_INFO_NULL, &file[1]));
    SHOW(MPI_File_open(MPI_COMM_SELF, path_of(name), mode, MPI_INFO_NULL, &file[2]));
    SHOW(MPI_File_open(unknown, path_of("unknown"), mode, MPI_INFO_NULL, &file[3]));
    SHOW(MPI_File_write_at(file[3], 4 * rank, data, 1, MPI_INT, IGNORE));
    for (int i = 0; i < 4; ++i) {
        SHOW(MPI_File_close(&file[i]));
        printf("%d closed %d\n", rank, file[i] == MPI_FILE_NULL);
    }
    PMPI_Comm_free(&unknown);
}

static void meta(void)
{
    MPI_File file = make_file("meta");
    MPI_Offset bytes, place;
    MPI_Info info;
    MPI_Info_create(&info);
    SHOW(MPI_File_set_size(file, 4096));
    SHOW(MPI_File_preallocate(file, 8192));
    PMPI_Barrier(MPI_COMM_WORLD); /* meanwhile the file is larger for a moment; not recorded */
    SHOW(MPI_File_get_size(file, &bytes));
    printf("%d %lld bytes\n", rank, (long long)bytes);
    SHOW(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    SHOW(MPI_File_sync(file));
    SHOW(MPI_File_seek_shared(file, 3, MPI_SEEK_SET));
    SHOW(MPI_File_get_position_shared(file, &place));
    printf("%d at %lld\n", rank, (long long)place);
    SHOW(MPI_File_set_atomicity(file, 0));
    SHOW(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    SHOW(MPI_File_close(&file));
    if (rank == 0) {
        SHOW(MPI_File_delete(path_of("meta"), MPI_INFO_NULL));
    }
}

static void blocking(void)
{
    MPI_File file = make_file("blocking");
    MPI_Datatype spread;
    MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    SHOW(MPI_File_write_at(file, 0, data, 3, MPI_INT, &status));
    SHOW(MPI_File_write_at(file, 3, data, 2, spread, IGNORE));
    SHOW(MPI_File_write_at(file, 3, data, 0, MPI_INT, &status));
    SHOW(MPI_File_read_at(file, 0, other, 6, MPI_INT, &status));
    SHOW(MPI_File_read_at(file, 0, other, 2, MPI_INT, IGNORE));
    SHOW(MPI_File_write(file, data, 5, MPI_INT, &status));
    SHOW(MPI_File_write(file, data, 1, MPI_INT, IGNORE));
    SHOW(MPI_File_read(file, other + 6, 4, MPI_INT, &status));
    SHOW(MPI_File_read(file, other + 6, 4, MPI_INT, IGNORE));
    if (rank == size - 1) {
        SHOW(MPI_File_read_at(file, 30, other, 6, MPI_INT, &status)); /* two are left in the file */
        SHOW(MPI_File_read_at(file, 30, other, 6, MPI_INT, IGNORE));
        SHOW(MPI_File_read_at(file, 300, other, 6, MPI_INT, IGNORE));
    }
    MPI_Type_free(&spread);
    MPI_File_close(&file);
    print_other();
}

static void collective(void)
{
    MPI_File file = make_file("collective");
    SHOW(MPI_File_write_at_all(file, 0, data, 3, MPI_INT, &status));
    SHOW(MPI_File_write_at_all(file, 3, data, rank, MPI_INT, IGNORE));
    settle(file);
    SHOW(MPI_File_read_at_all(file, 0, other, 6, MPI_INT, &status));
    SHOW(MPI_File_read_at_all(file, 0, other, 2, MPI_INT, IGNORE));
    SHOW(MPI_File_write_all(file, data, 5, MPI_INT, &status));
    SHOW(MPI_File_write_all(file, data, 1, MPI_INT, IGNORE));
    settle(file);
    SHOW(MPI_File_read_all(file, other + 6, 4, MPI_INT, &status));
    SHOW(MPI_File_read_all(file, other + 6, 4, MPI_INT, IGNORE));
    MPI_File_close(&file);
    print_other();
}

static void shared(void)
{
    MPI_File file;
    MPI_File_open(WORLD, path_of("shared"), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    SHOW(MPI_File_write_ordered(file, data, rank + 1, MPI_INT, &status));
    SHOW(MPI_File_write_ordered(file, data, 2, MPI_INT, IGNORE));
    settle(file);
    SHOW(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    SHOW(MPI_File_read_ordered(file, other, rank + 1, MPI_INT, &status));
    SHOW(MPI_File_read_ordered(file, other + 8, 2, MPI_INT, IGNORE));
    print_other();
    SHOW(MPI_File_write_shared(file, data, 3, MPI_INT, &status));
    SHOW(MPI_File_write_shared(file, data, 3, MPI_INT, IGNORE));
    settle(file);
    SHOW(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    SHOW(MPI_File_read_shared(file, other, 1, MPI_INT, &status));
    SHOW(MPI_File_read_shared(file, other, 1, MPI_INT, IGNORE));
    MPI_File_close(&file);
}

static void split(void)
{
    MPI_File file = make_file("split");
    SHOW(MPI_File_write_at_all_begin(file, 0, data, 3, MPI_INT));
    SHOW_REQUEST(MPI_File_write_at_all_end(file, data, &status));
    settle(file);
    SHOW(MPI_File_read_at_all_begin(file, 0, other, 3, MPI_INT));
    SHOW_REQUEST(MPI_File_read_at_all_end(file, other, IGNORE));
    SHOW(MPI_File_write_all_begin(file, data, 2, MPI_INT));
    SHOW_REQUEST(MPI_File_write_all_end(file, data, IGNORE));
    settle(file);
    SHOW(MPI_File_read_all_begin(file, other + 3, 5, MPI_INT));
    SHOW_REQUEST(MPI_File_read_all_end(file, other + 3, &status));
    SHOW(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    SHOW(MPI_File_write_ordered_begin(file, data, 4, MPI_INT));
    SHOW_REQUEST(MPI_File_write_ordered_end(file, data, &status));
    SHOW(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    settle(file);
    SHOW(MPI_File_read_ordered_begin(file, other + 8, 4, MPI_INT));
    SHOW_REQUEST(MPI_File_read_ordered_end(file, other + 8, IGNORE));
    MPI_File_close(&file);
    print_other();
}

static void nonblocking(void)
{
    MPI_File file = make_file("nonblocking");
    MPI_Request request[3];
    int done = 0;
    SHOW(MPI_File_iwrite_at(file, 0, data, 3, MPI_INT, &request[0]));
    SHOW(MPI_File_iwrite_at(file, 8, data, 4, MPI_INT, &request[1]));
    SHOW(MPI_File_iwrite_at(file, 16, data, 0, MPI_INT, &request[2]));
    SHOW_REQUEST(MPI_Wait(&request[1], &status));
    SHOW_REQUEST(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
    SHOW(MPI_File_iread_at(file, 0, other, 2, MPI_INT, &request[0]));
    SHOW_REQUEST(MPI_Wait(&request[0], IGNORE));
    SHOW(MPI_File_iwrite(file, data, 5, MPI_INT, &request[0]));
    while (done == 0) {
        const int code = MPI_Test(&request[0], &done, &status);
        if (done != 0) {
            show_request("MPI_Test", code);
        }
    }
    SHOW(MPI_File_iread(file, other + 2, 6, MPI_INT, &request[0]));
    SHOW_REQUEST(MPI_Wait(&request[0], &status));
    MPI_File_close(&file);
    print_other();
}

static void nonblocking_shared(void)
{
    MPI_File file;
    MPI_Request request;
    MPI_File_open(WORLD, path_of("nonblocking_shared"), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    SHOW(MPI_File_iwrite_shared(file, data, 2, MPI_INT, &request));
    SHOW_REQUEST(MPI_Wait(&request, &status));
    MPI_Barrier(WORLD);
    SHOW(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    settle(file);
    SHOW(MPI_File_iread_shared(file, other, 1, MPI_INT, &request));
    SHOW_REQUEST(MPI_Wait(&request, IGNORE));
    MPI_File_close(&file);
}

static void nonblocking_collective(void)
{
    MPI_File file = make_file("nonblocking_collective");
    MPI_Request request;
    SHOW(MPI_File_iwrite_at_all(file, 0, data, 3, MPI_INT, &request));
    SHOW_REQUEST(MPI_Wait(&request, &status));
    settle(file);
    SHOW(MPI_File_iread_at_all(file, 0, other, 3, MPI_INT, &request));
    SHOW_REQUEST(MPI_Wait(&request, IGNORE));
    SHOW(MPI_File_iwrite_all(file, data, 2, MPI_INT, &request));
    SHOW_REQUEST(MPI_Wait(&request, IGNORE));
    settle(file);
    SHOW(MPI_File_iread_all(file, other + 3, 4, MPI_INT, &request));
    SHOW_REQUEST(MPI_Wait(&request, &status));
    MPI_File_close(&file);
    print_other();
}

static void on_error(MPI_File* file, int* code, ...)
{
    int kind;
    MPI_Error_class(*code, &kind);
    printf("%d handler of file %d: %d\n", rank, *file != MPI_FILE_NULL, kind);
}

static void errors(void)
{
    MPI_File file = MPI_FILE_NULL, null = MPI_FILE_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Errhandler handler;
    for (int round = 0; round < 2; ++round) {
        if (round == 1) {
            MPI_File_create_errhandler(on_error, &handler);
            MPI_File_set_errhandler(MPI_FILE_NULL, handler);
        }
        SHOW(MPI_File_open(WORLD, path_of("missing"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
        SHOW(MPI_File_open(WORLD, path_of("wrong"), MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
        SHOW(MPI_File_read(null, other, 1, MPI_INT, &status));
        SHOW(MPI_File_read(null, other, 1, MPI_INT, IGNORE));
        SHOW(MPI_File_write_at_all(null, 0, data, 1, MPI_INT, &status));
        SHOW(MPI_File_write_ordered(null, data, 1, MPI_INT, IGNORE));
        SHOW(MPI_File_iwrite(null, data, 1, MPI_INT, &request));
        SHOW(MPI_File_iread_at_all(null, 0, other, 1, MPI_INT, &request));
        SHOW(MPI_File_read_all_begin(null, other, 1, MPI_INT));
        SHOW_REQUEST(MPI_File_read_all_end(null, other, &status));
        SHOW(MPI_File_set_size(null, 10));
        SHOW(MPI_File_set_view(null, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
        SHOW(MPI_File_sync(null));
        SHOW(MPI_File_close(&null));
    }
    MPI_File_open(WORLD, path_of("errors"), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int round = 0; round < 2; ++round) {
        if (round == 1) {
            MPI_File_set_errhandler(file, handler);
        }
        SHOW(MPI_File_read_at(file, 0, other, 1, MPI_INT, &status)); /* it may only be written */
        SHOW(MPI_File_write_at(file, 0, data, -1, MPI_INT, &status));
        SHOW(MPI_File_write_at(file, 0, data, 1, MPI_DATATYPE_NULL, &status));
        SHOW(MPI_File_write_at(file, -4, data, 1, MPI_INT, IGNORE));
        SHOW(MPI_File_iwrite_at(file, -4, data, 1, MPI_INT, &request));
    }
    printf("%d untouched %d\n", rank, request == MPI_REQUEST_NULL);
    MPI_File_close(&file);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    /* The handler is not freed: MPICH 4.0 then counts one user of it too few. */
}

/* Each thread has a file of its own; the request of a thread is completed by the next one. In turn, because Open MPI's
 * usual component hangs now and then if two threads wait for their files at once. */
enum { threads = 3, rounds = 20 };
static MPI_File files_of[threads];
static MPI_Request posted[threads];
static pthread_barrier_t meeting;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int in_turn;

static void enter(void)
{
    if (in_turn) {
        pthread_mutex_lock(&turn);
    }
}

static void leave(void)
{
    if (in_turn) {
        pthread_mutex_unlock(&turn);
    }
}

static void* thread_main(void* argument)
{
    const int me = (int)(size_t)argument;
    const int next = (me + 1) % threads;
    for (int i = 0; i < rounds; ++i) {
        enter();
        MPI_File_iwrite_at(files_of[me], 0, data, me + 1, MPI_INT, &posted[me]);
        leave();
        pthread_barrier_wait(&meeting);
        enter();
        MPI_Wait(&posted[next], IGNORE);
        leave();
        pthread_barrier_wait(&meeting);
    }
    return NULL;
}

static void thread_case(void)
{
    pthread_t id[threads];
    char name[32];
    pthread_barrier_init(&meeting, NULL, threads);
    for (int i = 0; i < threads; ++i) {
        snprintf(name, sizeof name, "thread.%d.%d", rank, i);
        MPI_File_open(MPI_COMM_SELF, path_of(name), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &files_of[i]);
    }
    for (int i = 1; i < threads; ++i) {
        pthread_create(&id[i], NULL, thread_main, (void*)(size_t)i);
    }
    thread_main(NULL);
    for (int i = 1; i < threads; ++i) {
        pthread_join(id[i], NULL);
    }
    for (int i = 0; i < threads; ++i) {
        MPI_File_close(&files_of[i]);
    }
}

static void thread_case_in_turn(void)
{
    in_turn = 1;
    thread_case();
}

int main(int argc, char** argv)
{
    static const struct {
        const char* name;
        void (*run)(void);
    } cases[] = {{"open_close", open_close},
                 {"meta", meta},
                 {"blocking", blocking},
                 {"collective", collective},
                 {"shared", shared},
                 {"split", split},
                 {"nonblocking", nonblocking},
                 {"nonblocking_shared", nonblocking_shared},
                 {"nonblocking_collective", nonblocking_collective},
                 {"errors", errors},
                 {"threads", thread_case},
                 {"threads_in_turn", thread_case_in_turn}};
    int level, known = 0;
    MPI_Init_thread(&argc, &argv, argc > 3 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    collect_output();
    directory = argv[2];
    for (int i = 0; i < cells; ++i) {
        data[i] = 1000 * rank + i;
    }
    preset();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            known = 1;
        }
    }
    print_in_rank_order();
    MPI_Finalize();
    return known ? 0 : 2;
}

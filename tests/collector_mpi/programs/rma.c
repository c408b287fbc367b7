/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the one-sided communication whose records and outcome rma_test.py expects: one function a case, named by the
 * first argument; with a third one MPI is initialised with MPI_THREAD_MULTIPLE. Works on any number of ranks. */
#include "in_rank_order.h"

#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { cells = 64 };
static int rank, size, right, left;
static int memory[cells], here[cells], back[cells];
#define WORLD MPI_COMM_WORLD

static void sleep_ms(int ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static MPI_Win make_window(MPI_Comm comm)
{
    MPI_Win win;
    for (int i = 0; i < cells; ++i) {
        memory[i] = 100 * rank + i;
        here[i] = 1000 + i;
        back[i] = -1;
    }
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, comm, &win);
    return win;
}

static void print_cells(const char* what)
{
    printf("%d %s:", rank, what);
    for (int i = 0; i < 32; ++i) {
        printf(" %d", memory[i]);
    }
    printf(" back");
    for (int i = 0; i < 16; ++i) {
        printf(" %d", back[i]);
    }
    printf("\n");
}

static void constants(void)
{
    printf("%d %d %d %d", MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED, MPI_MODE_NOCHECK, MPI_MODE_NOPUT);
}

/* Two communicators that the collector knows, and one that it does not: PMPI is out of its sight. */
static void windows(void)
{
    MPI_Comm comms[3] = {WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
    PMPI_Comm_dup(WORLD, &comms[2]);
    MPI_Win win[6];
    int* base;
    for (int i = 0; i < 3; ++i) {
        MPI_Win_create(memory, (MPI_Aint)sizeof(int) * i, 1, MPI_INFO_NULL, comms[i], &win[i]);
    }
    MPI_Win_allocate(40, 1, MPI_INFO_NULL, WORLD, &base, &win[3]);
    MPI_Win_allocate_shared(rank == 0 ? 80 : 0, 1, MPI_INFO_NULL, WORLD, &base, &win[4]);
    MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &win[5]);
    MPI_Win_attach(win[5], memory, sizeof memory);
    MPI_Win_detach(win[5], memory);
    MPI_Win_fence(0, win[2]);
    for (int i = 5; i >= 0; --i) {
        MPI_Win_free(&win[i]);
        printf("%d freed %d\n", rank, win[i] == MPI_WIN_NULL);
    }
    PMPI_Comm_free(&comms[2]);
}

static void fence(void)
{
    MPI_Win win = make_window(WORLD);
    MPI_Datatype spread;
    const int compare = 100 * right + 21;
    MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(here, 3, MPI_INT, right, 0, 3, MPI_INT, win);
    MPI_Put(here, 2, MPI_INT, right, 4, 1, spread, win);
    MPI_Put(here, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, win);
    MPI_Put(here, 0, MPI_INT, right, 0, 0, MPI_INT, win);
    MPI_Get(back, 2, MPI_INT, right, 8, 2, MPI_INT, win);
    MPI_Get(back, 2, MPI_INT, MPI_PROC_NULL, 8, 2, MPI_INT, win);
    MPI_Accumulate(here, 4, MPI_INT, right, 12, 4, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate(here, 1, MPI_INT, back + 2, 1, MPI_INT, right, 17, 1, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate(NULL, 0, MPI_INT, back + 3, 2, MPI_INT, right, 18, 2, MPI_INT, MPI_NO_OP, win);
    MPI_Fetch_and_op(here, back + 5, MPI_INT, right, 20, MPI_SUM, win);
    MPI_Fetch_and_op(NULL, back + 6, MPI_INT, right, 22, MPI_NO_OP, win);
    MPI_Fetch_and_op(here, back + 8, MPI_INT, right, 23, MPI_REPLACE, win);
    MPI_Compare_and_swap(here, &compare, back + 7, MPI_INT, right, 21, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    MPI_Type_free(&spread);
    print_cells("fence");
}

static void pscw(void)
{
    MPI_Win win = make_window(WORLD);
    MPI_Group world, to, from;
    MPI_Comm_group(WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    for (int round = 0; round < 2; ++round) {
        MPI_Win_post(from, round == 0 ? 0 : MPI_MODE_NOPUT, win);
        MPI_Win_start(to, 0, win);
        if (round == 0) {
            MPI_Put(here, 1, MPI_INT, right, 0, 1, MPI_INT, win);
        }
        sleep_ms(50);
        MPI_Win_complete(win);
        if (round == 0) {
            MPI_Win_wait(win);
        } else {
            for (int done = 0; done == 0;) {
                MPI_Win_test(win, &done);
            }
        }
    }
    MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
    print_cells("pscw");
}

/* Rank 0 is late with its complete: the others find nothing for a while. */
static void poll(void)
{
    MPI_Win win = make_window(WORLD);
    MPI_Group world, group;
    const int zero = 0;
    int done = 0;
    MPI_Comm_group(WORLD, &world);
    if (rank == 0) {
        MPI_Group_excl(world, 1, &zero, &group);
        MPI_Win_start(group, 0, win);
        sleep_ms(100);
        MPI_Win_complete(win);
    } else {
        MPI_Group_incl(world, 1, &zero, &group);
        MPI_Win_post(group, 0, win);
        while (done == 0) {
            MPI_Win_test(win, &done);
        }
    }
    MPI_Win_free(&win);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void lock(void)
{
    MPI_Win win = make_window(WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    MPI_Put(here, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_flush(right, win);
    MPI_Win_flush_local(right, win);
    MPI_Win_unlock(right, win);
    MPI_Win_lock(MPI_LOCK_SHARED, right, MPI_MODE_NOCHECK, win);
    MPI_Get(back, 1, MPI_INT, right, 1, 1, MPI_INT, win);
    MPI_Win_unlock(right, win);
    MPI_Win_lock_all(0, win);
    MPI_Win_flush_all(win);
    MPI_Win_flush_local_all(win);
    MPI_Win_sync(win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    print_cells("lock");
}

static void requests(void)
{
    MPI_Win win = make_window(WORLD);
    MPI_Request request[5];
    MPI_Win_lock_all(0, win);
    MPI_Rput(here, 3, MPI_INT, right, 0, 3, MPI_INT, win, &request[0]);
    MPI_Rget(back, 2, MPI_INT, right, 8, 2, MPI_INT, win, &request[1]);
    MPI_Raccumulate(here, 4, MPI_INT, right, 12, 4, MPI_INT, MPI_SUM, win, &request[2]);
    MPI_Rget_accumulate(here, 1, MPI_INT, back + 2, 1, MPI_INT, right, 17, 1, MPI_INT, MPI_SUM, win, &request[3]);
    MPI_Rput(here, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, win, &request[4]);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    MPI_Waitall(5, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 5; ++i) {
        printf("%d null %d\n", rank, request[i] == MPI_REQUEST_NULL);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    print_cells("requests");
}

/* Every rank puts into every other: groups that need more than one record on 16 ranks and more. */
static void large_group(void)
{
    MPI_Win win = make_window(WORLD);
    MPI_Group world, others;
    MPI_Comm_group(WORLD, &world);
    MPI_Group_excl(world, 1, &rank, &others);
    MPI_Win_post(others, 0, win);
    MPI_Win_start(others, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&others);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
}

static void on_comm(MPI_Comm* comm, int* code, ...)
{
    int kind;
    MPI_Error_class(*code, &kind);
    printf("%d handler of communicator %d: %d\n", rank, *comm == WORLD, kind);
}

static void on_window(MPI_Win* win, int* code, ...)
{
    int kind;
    MPI_Error_class(*code, &kind);
    printf("%d handler of window %d: %d\n", rank, *win != MPI_WIN_NULL, kind);
}

static void show(const char* call, int code)
{
    int kind;
    MPI_Error_class(code, &kind);
    printf("%d %s: %d\n", rank, call, kind);
}
#define SHOW(call) show(#call, call)

static void errors(void)
{
    MPI_Errhandler comm_handler, window_handler;
    MPI_Comm_create_errhandler(on_comm, &comm_handler);
    MPI_Win_create_errhandler(on_window, &window_handler);
    MPI_Comm_set_errhandler(WORLD, comm_handler);
    MPI_Win win = make_window(WORLD), null = MPI_WIN_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int flag = 7;
    MPI_Win_set_errhandler(win, window_handler);
    SHOW(MPI_Put(here, 1, MPI_INT, right, 0, 1, MPI_INT, null));
    SHOW(MPI_Get(here, 1, MPI_INT, right, 0, 1, MPI_INT, null));
    SHOW(MPI_Rput(here, 1, MPI_INT, right, 0, 1, MPI_INT, null, &request));
    SHOW(MPI_Accumulate(here, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, null));
    SHOW(MPI_Fetch_and_op(here, back, MPI_INT, right, 0, MPI_SUM, null));
    SHOW(MPI_Compare_and_swap(here, here, back, MPI_INT, right, 0, null));
    SHOW(MPI_Put(here, 1, MPI_INT, size + 3, 0, 1, MPI_INT, win));
    SHOW(MPI_Put(here, 1, MPI_DATATYPE_NULL, right, 0, 1, MPI_DATATYPE_NULL, win));
    SHOW(MPI_Put(here, -1, MPI_INT, right, 0, -1, MPI_INT, win));
    SHOW(MPI_Get(here, 1, MPI_INT, right, 0, 1, MPI_INT, win)); /* outside of any epoch */
    SHOW(MPI_Rget(here, 1, MPI_INT, right, 0, 1, MPI_INT, win, &request));
    SHOW(MPI_Win_fence(0, null));
    SHOW(MPI_Win_start(MPI_GROUP_EMPTY, 0, null));
    SHOW(MPI_Win_start(MPI_GROUP_NULL, 0, win));
    SHOW(MPI_Win_post(MPI_GROUP_NULL, 0, win));
    SHOW(MPI_Win_complete(null));
    SHOW(MPI_Win_wait(null));
    SHOW(MPI_Win_test(null, &flag));
    SHOW(MPI_Win_lock(-5, right, 0, win));
    SHOW(MPI_Win_lock(MPI_LOCK_SHARED, size + 3, 0, win));
    SHOW(MPI_Win_lock_all(0, null));
    SHOW(MPI_Win_unlock(right, win));
    SHOW(MPI_Win_unlock_all(null));
    SHOW(MPI_Win_flush(right, null));
    SHOW(MPI_Win_flush_all(null));
    SHOW(MPI_Win_sync(null));
    SHOW(MPI_Win_free(&null));
    SHOW(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, WORLD, &null));
    SHOW(MPI_Win_create(memory, 1, 1, MPI_INFO_NULL, MPI_COMM_NULL, &null));
    SHOW(MPI_Win_allocate(8, -1, MPI_INFO_NULL, WORLD, &memory, &null));
    printf("%d untouched %d %d\n", rank, flag, request == MPI_REQUEST_NULL);
    MPI_Win_free(&win);
    MPI_Errhandler_free(&comm_handler);
    MPI_Errhandler_free(&window_handler);
}

/* Each thread has a window and a request; the request of a thread is completed by the next one. */
enum { threads = 3, rounds = 50 };
static MPI_Win windows_of[threads];
static MPI_Request posted[threads];
static int memories[threads][cells];
static pthread_barrier_t meeting;

static void* thread_main(void* argument)
{
    const int me = (int)(size_t)argument;
    const int next = (me + 1) % threads;
    for (int i = 0; i < rounds; ++i) {
        MPI_Win_lock(MPI_LOCK_SHARED, right, 0, windows_of[me]);
        MPI_Rput(here, 1, MPI_INT, right, me, 1, MPI_INT, windows_of[me], &posted[me]);
        pthread_barrier_wait(&meeting);
        MPI_Wait(&posted[next], MPI_STATUS_IGNORE);
        pthread_barrier_wait(&meeting);
        MPI_Win_unlock(right, windows_of[me]);
    }
    return NULL;
}

static void thread_case(void)
{
    pthread_t id[threads];
    pthread_barrier_init(&meeting, NULL, threads);
    for (int i = 0; i < threads; ++i) {
        MPI_Win_create(memories[i], sizeof memories[i], sizeof(int), MPI_INFO_NULL, WORLD, &windows_of[i]);
    }
    for (int i = 1; i < threads; ++i) {
        pthread_create(&id[i], NULL, thread_main, (void*)(size_t)i);
    }
    thread_main(NULL);
    for (int i = 1; i < threads; ++i) {
        pthread_join(id[i], NULL);
    }
    for (int i = 0; i < threads; ++i) {
        MPI_Win_free(&windows_of[i]);
    }
}

int main(int argc, char** argv)
{
    static const struct {
        const char* name;
        void (*run)(void);
    } cases[] = {{"constants", constants}, {"windows", windows}, {"fence", fence},
                 {"pscw", pscw},           {"poll", poll},       {"lock", lock},
                 {"requests", requests},   {"errors", errors},   {"large_group", large_group},
                 {"threads", thread_case}};
    int level;
    MPI_Init_thread(&argc, &argv, argc > 3 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    collect_output();
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    int known = 0;
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

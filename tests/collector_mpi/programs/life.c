/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns programs with a life worth recording: one a mode, named by the first argument. */
#include <mpi.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;

static int next_descriptor(void)
{
    const int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd;
}

static void show_environment(const char* when)
{
    char command[256];
    snprintf(command, sizeof command, "env | grep -E '^(LD_PRELOAD|CRITPATH_)' | sed 's/^/%s: /'", when);
    fflush(stdout);
    if (system(command) != 0) {
        printf("%s: system failed\n", when);
    }
}

static void send_nothing(int count)
{
    for (int i = 0; i < count; ++i) {
        MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    }
}

static int at_copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    send_nothing(1);
    ++*(int*)extra;
    *flag = 0;
    return MPI_SUCCESS;
}

static void add(void* in, void* out, int* count, MPI_Datatype* type)
{
    (void)type;
    send_nothing(1);
    for (int i = 0; i < *count; ++i) {
        ((int*)out)[i] += ((int*)in)[i];
    }
}

/* Calls from inside MPI are not the application's; and the collector causes none of them. */
static void callbacks(void)
{
    int key, copies = 0, sum = 0;
    MPI_Comm dup;
    MPI_Op op;
    MPI_Comm_create_keyval(at_copy, MPI_COMM_NULL_DELETE_FN, &key, &copies);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    printf("copies %d sum %d\n", copies, sum);
    MPI_Op_free(&op);
    MPI_Comm_free(&dup);
}

static void fork_child(void)
{
    const pid_t child = fork();
    if (child == 0) {
        int initialised;
        MPI_Initialized(&initialised);
        exit(initialised ? 6 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
}

static void* thread_that_ends(void* data)
{
    send_nothing(10);
    return data;
}

static void short_threads(void)
{
    for (int i = 0; i < 50; ++i) {
        pthread_t thread;
        void* result = NULL;
        pthread_create(&thread, NULL, thread_that_ends, &rank);
        pthread_join(thread, &result);
        if (result != &rank) {
            printf("wrong result\n");
        }
    }
}

int main(int argc, char** argv)
{
    const char* mode = argc > 1 ? argv[1] : "";
    const int first = next_descriptor();
    int provided;
    if (strcmp(mode, "environment") == 0) {
        show_environment("before");
    }
    if (strcmp(mode, "no_init") == 0) {
        return 0;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(mode, "environment") == 0) {
        show_environment("after");
    } else if (strcmp(mode, "hello") == 0) {
        printf("hello from %d, descriptor %d\n", rank, first);
        fprintf(stderr, "error output\n");
    } else if (strcmp(mode, "callbacks") == 0) {
        callbacks();
    } else if (strcmp(mode, "fork") == 0) {
        send_nothing(1);
        fork_child();
        send_nothing(1);
    } else if (strcmp(mode, "no_finalize") == 0) {
        send_nothing(5);
        MPI_Barrier(MPI_COMM_WORLD);
        sleep(1); /* Hydra kills the others once one has gone: all of them shall be behind the barrier by then. */
        exit(0);
    } else if (strcmp(mode, "waiting") == 0) {
        sleep(3);
        MPI_Abort(MPI_COMM_WORLD, 9);
    } else if (strcmp(mode, "killed") == 0) {
        send_nothing(5);
        MPI_Barrier(MPI_COMM_WORLD);
        raise(SIGKILL);
    } else if (strcmp(mode, "many") == 0) {
        send_nothing(argc > 2 ? atoi(argv[2]) : 100000);
    } else if (strcmp(mode, "short_threads") == 0) {
        short_threads();
    } else if (strcmp(mode, "closed_stderr") == 0) {
        close(2);
        printf("descriptor %d\n", next_descriptor());
    }
    fflush(stdout);
    MPI_Finalize();
    return strcmp(mode, "hello") == 0 ? 7 : 0;
}

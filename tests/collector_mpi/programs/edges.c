// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One rank that does what few applications do, and all may.
#define _GNU_SOURCE
#include <mpi.h>

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <threads.h>
#include <unistd.h>

static void* reduce(void* calls)
{
    int one = 1, sum = 0;
    for (long i = 0; i < (long)calls; ++i)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    return NULL;
}

static void small_stacks(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    for (size_t size = PTHREAD_STACK_MIN; size <= 32768; size += 4096) {
        pthread_t thread;
        pthread_attr_setstacksize(&attributes, size);
        if (pthread_create(&thread, &attributes, reduce, (void*)5000) == 0 && pthread_join(thread, NULL) == 0)
            printf("stack %zu\n", size);
    }
}

static int reduce_in_c11(void* calls)
{
    reduce(calls);
    volatile double sum = 0;
    for (long i = 0; i < 100000000; ++i)
        sum += (double)i;
    return 42;
}

static void c11(void)
{
    thrd_t thread;
    int result = 0;
    if (thrd_create(&thread, reduce_in_c11, (void*)10) == thrd_success && thrd_join(thread, &result) == thrd_success)
        printf("result %d\n", result);
}

static void file_limit(void)
{
    const struct rlimit limit = {100000, 100000};
    setrlimit(RLIMIT_FSIZE, &limit);
    reduce((void*)30000);
}

static void removed(const char* spool)
{
    DIR* directory = opendir(spool);
    char path[PATH_MAX];
    for (struct dirent* entry; (entry = readdir(directory)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", spool, entry->d_name);
        if (strstr(entry->d_name, ".calls") != NULL)
            unlink(path);
    }
    closedir(directory);
}

// Only of regular files, so that MPI keeps its own.
static void close_all(void)
{
    struct stat status;
    for (int fd = 3; fd < 65536; ++fd)
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
            close(fd);
}

// No thread can open a file.
static void no_files(void)
{
    struct rlimit limit, none = {0, 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    none.rlim_max = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &none);
    for (int i = 0; i < 5; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, reduce, (void*)10);
        pthread_join(thread, NULL);
    }
    setrlimit(RLIMIT_NOFILE, &limit);
}

// Is to be cancelled, and never comes to where it may be.
static void* cancelled(void* sends)
{
    pthread_cancel(pthread_self());
    for (long i = 0; i < (long)sends; ++i)
        MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    return sends;
}

static void cancel(void)
{
    pthread_t thread;
    void* result;
    pthread_create(&thread, NULL, cancelled, (void*)10000);
    pthread_join(thread, &result);
    puts(result == (void*)10000 ? "returned" : "cancelled");
}

static void tasks(void)
{
    int count = 0;
    DIR* directory = opendir("/proc/self/task");
    for (struct dirent* entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    printf("%d\n", count);
}

int main(int argc, char** argv)
{
    const char* what = argc > 1 ? argv[1] : "nothing";
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (strcmp(what, "small_stacks") == 0)
        small_stacks();
    else if (strcmp(what, "c11") == 0)
        c11();
    else if (strcmp(what, "file_limit") == 0)
        file_limit();
    else if (strcmp(what, "close_all") == 0) {
        close_all();
        reduce((void*)30000);
    } else if (strcmp(what, "removed") == 0) {
        removed(argv[2]);
        close_all();
        reduce((void*)30000);
    } else if (strcmp(what, "no_files") == 0)
        no_files();
    else if (strcmp(what, "cancel") == 0)
        cancel();
    else if (strcmp(what, "tasks") == 0)
        tasks();
    MPI_Finalize();
    puts("done");
    return 5;
}

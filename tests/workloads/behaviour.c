// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// Any number of ranks. Shows what an application can see of the process that it runs in, so that a run under cpcollect
// can be compared with one without: arguments, standard input (rank 0), environment, that of a child process, signal
// dispositions, descriptors; then ends with the exit code that is the argument.
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char** environ;

static int compare(const void* left, const void* right)
{
    return strcmp(*(char* const*)left, *(char* const*)right);
}

// Sorted, because nothing promises an order; without what the MPI launcher gives each run a new value.
static void show_environment(void)
{
    size_t count = 0;
    while (environ[count])
        ++count;
    char** sorted = malloc(count * sizeof *sorted);
    memcpy(sorted, environ, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; ++i)
        if (strncmp(sorted[i], "OMPI_", 5) != 0 && strncmp(sorted[i], "PMIX_", 5) != 0)
            printf("environment %s\n", sorted[i]);
    free(sorted);
}

// Only those that something other than the C library's start has changed.
static void show_signals(void)
{
    for (int number = 1; number < NSIG; ++number) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            printf("signal %d is %s\n", number, action.sa_handler == SIG_IGN ? "ignored" : "handled");
    }
}

int main(int argc, char** argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);

    if (rank == 0) {
        char line[256];
        for (int i = 0; i < argc; ++i)
            printf("argument %s\n", argv[i]);
        while (fgets(line, sizeof line, stdin))
            printf("input %s", line);
        show_environment();
        show_signals();
        fflush(stdout);
        if (system("env | grep -v -e ^OMPI_ -e ^PMIX_ -e ^_= | sort; echo child done") != 0)
            puts("system failed");
        fprintf(stderr, "rank 0 of %d says something on standard error\n", size);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return atoi(argv[1]);
}

/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A halo exchange on a ring that ends in the way that it is told, and keeps a count of its own.
 *
 *   deaths LOG ITERATIONS how [rank [pause in us]]
 *
 * LOG.<rank> holds the number of MPI calls that the rank has finished, MPI_Init included, as 8 bytes; before
 * MPI_Finalize as many more for the memory that it has needed at most, in KiB. In the middle of the exchange of this
 * iteration the rank (all ranks if it is -1) does what `how` says: kill abort segv exit _exit   the others would go on
 *   run                          nothing, until somebody ends the program
 *   define                       likewise, but each iteration has a communicator of its own
 *   command                      what the environment variable COMMAND tells the shell; then goes on for as many
 *                                iterations, and ends as it should
 *   return                       after the iteration, all ranks: end without MPI_Finalize
 *   finalize                     after the iteration, all ranks: end as they should
 */
#include <mpi.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int log_file = -1;
static unsigned long long calls = 0;

static void count(int rc)
{
    (void)rc;
    ++calls;
    if (pwrite(log_file, &calls, sizeof calls, 0) != sizeof calls) {
        _exit(99);
    }
}

static void die(const char* how)
{
    if (strcmp(how, "kill") == 0) {
        raise(SIGKILL);
    } else if (strcmp(how, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 9);
    } else if (strcmp(how, "segv") == 0) {
        *(volatile int*)(size_t)8 = 1;
    } else if (strcmp(how, "exit") == 0) {
        exit(6);
    } else if (strcmp(how, "_exit") == 0) {
        _exit(5);
    } else if (strcmp(how, "command") == 0 && system(getenv("COMMAND")) != 0) {
        exit(98);
    }
}

static void log_memory(void)
{
    unsigned long long peak = 0;
    char line[256];
    FILE* status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status) != NULL && sscanf(line, "VmHWM: %llu kB", &peak) != 1) {
    }
    fclose(status);
    if (pwrite(log_file, &peak, sizeof peak, sizeof calls) != sizeof peak) {
        _exit(99);
    }
}

int main(int argc, char** argv)
{
    if (argc < 4) {
        return 2;
    }
    const long iterations = atol(argv[2]);
    const char* how = argv[3];
    const int victim = argc > 4 ? atoi(argv[4]) : -1;
    const int pause = argc > 5 ? atoi(argv[5]) : 0;
    char name[4096];

    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    log_file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
    count(0);
    if (rank == 0) {
        printf("%d ranks, %s\n", size, how);
        fflush(stdout);
    }

    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    const int defines = strcmp(how, "define") == 0;
    const int goes_on = strcmp(how, "command") == 0;
    const int ends = goes_on || strcmp(how, "return") == 0 || strcmp(how, "finalize") == 0;
    for (long i = 0; !ends || i < (goes_on ? 2 * iterations : iterations); ++i) {
        int in[2] = {0, 0}, out = rank;
        MPI_Request requests[2];
        count(MPI_Irecv(&in[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]));
        count(MPI_Isend(&out, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[1]));
        if (i + 1 == iterations && (victim == rank || victim < 0)) {
            die(how);
        }
        count(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        if (i % 10 == 9) {
            count(MPI_Allreduce(MPI_IN_PLACE, &in[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        }
        if (defines) {
            MPI_Comm comm;
            count(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
            count(MPI_Barrier(comm));
            count(MPI_Comm_free(&comm));
        }
        if (pause > 0) {
            usleep((useconds_t)pause);
        }
    }
    if (strcmp(how, "return") == 0) {
        return 4;
    }
    log_memory();
    MPI_Finalize();
    if (rank == 0) {
        printf("finalized\n");
    }
    return 0;
}

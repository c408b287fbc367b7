/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two ranks that poll for messages which never come, until rank 0 kills itself between two polls.
 *
 *   polling LOG POLLS
 *
 * Both have polled POLLS times by then. LOG holds for each rank how many polls it has finished, and when, on the clock
 * of the records, the last of them began and ended: three numbers of 8 bytes.
 */
#include <mpi.h>

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct Log {
    _Atomic uint64_t polls;
    uint64_t begin, end;
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int rank, message, done = 0;
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const uint64_t polls = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    const int file = open(argv[1], O_RDWR | O_CREAT, 0666);
    if (polls == 0 || ftruncate(file, 2 * sizeof(struct Log)) != 0) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    struct Log* logs = mmap(NULL, 2 * sizeof(struct Log), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    struct Log* own = &logs[rank];
    MPI_Irecv(&message, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
    while (!done) {
        own->begin = now();
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        own->end = now();
        ++own->polls;
        if (rank == 0 && logs[0].polls >= polls && logs[1].polls >= polls) {
            raise(SIGKILL);
        }
    }
    MPI_Finalize();
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// A program that knows what each of its two functions took on the critical path, where sampling draws the path to
// whoever was just interrupted: phases SEED SECONDS [phases | kinds]. All ranks have the same work in "balanced"; in
// "unbalanced", rank 1 has as much, and all others a quarter of it. They meet behind each phase, and whoever comes last
// was on the path. With kinds, they meet at one call for both: behind nine short balanced phases and an unbalanced one
// that takes rank 1 nine times as long, and the others as long as the short ones. For each function it prints the
// processor time that it took there.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#define PHASE(name)                                                                                                    \
    void name(long steps);                                                                                             \
    __attribute__((noipa)) void name(long steps)                                                                       \
    {                                                                                                                  \
        volatile double x = 1.0;                                                                                       \
        for (long i = 0; i < steps; ++i)                                                                               \
            x = x * 0.999999 + 1e-6;                                                                                   \
    }

PHASE(balanced)
PHASE(unbalanced)

/// Returns what it took on the path, of this rank.
static double meet_behind(void (*phase)(long), long steps, int rank)
{
    struct {
        double at;
        int rank;
    } mine, last;
    const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    phase(steps);
    const double took = seconds_of(CLOCK_THREAD_CPUTIME_ID) - before;
    mine.at = seconds_of(CLOCK_MONOTONIC);
    mine.rank = rank;
    MPI_Allreduce(&mine, &last, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    return last.rank == rank ? took : 0;
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    unsigned seed = (unsigned)atoi(argc > 1 ? argv[1] : "1");
    double end = seconds_of(CLOCK_MONOTONIC) + atof(argc > 2 ? argv[2] : "2");
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int is_kinds = argc > 3 && strcmp(argv[3], "kinds") == 0;
    double mine[2] = {0, 0}, sum[2];
    for (int more = 1; more;) {
        // Volatile, so that it stays one call.
        for (volatile int turn = 0; is_kinds && turn < 200; ++turn) {
            const int is_long = turn % 10 == 9;
            const long steps = 20000 + rand_r(&seed) % 10000;  // the same on all ranks
            mine[!is_long] +=
                meet_behind(is_long ? unbalanced : balanced, is_long && rank == 1 ? 9 * steps : steps, rank);
        }
        if (is_kinds) {
            more = seconds_of(CLOCK_MONOTONIC) < end;
            MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
            continue;
        }
        const long steps = 100000 + rand_r(&seed) % 200000;  // the same on all ranks
        mine[0] += meet_behind(unbalanced, rank == 1 ? steps : steps / 4, rank);
        mine[1] += meet_behind(balanced, steps, rank);
        more = seconds_of(CLOCK_MONOTONIC) < end;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("unbalanced %.9f\nbalanced %.9f\n", sum[0], sum[1]);
    return MPI_Finalize();
}

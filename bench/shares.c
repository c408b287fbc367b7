// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// A program that knows what each of its functions took on the critical path, which sampling is to find out:
// shares SEED SECONDS [HOW]. It spends processor time in four functions, in pieces of random length, and prints how
// much of that was on the path, of each of them, and how long the path was in their two callers and what these call,
// with a processor or without.
//
//   alone  one rank: all of it is on the path
//   ranks  any number of ranks, which meet in MPI_Allreduce after some pieces each, more of them on one rank by turns.
//          Whoever comes last was on the path. The others have the shares of the functions the other way round.
//   team   one rank with two threads of OpenMP, which meet after some pieces each. The first one is on the path, and
//          the second one from when the first one waits for it; it has the shares of the functions the other way round.
#include <mpi.h>

#include <omp.h>
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

/// Works until the thread has used processor time up to `end`.
#define SHARE(name)                                                                                                    \
    void name(double end);                                                                                             \
    __attribute__((noipa)) void name(double end)                                                                       \
    {                                                                                                                  \
        volatile double x = 1.0;                                                                                       \
        do {                                                                                                           \
            for (int i = 0; i < 50000; ++i)                                                                            \
                x = x * 0.999999 + 1e-6;                                                                               \
        } while (seconds_of(CLOCK_THREAD_CPUTIME_ID) < end);                                                           \
    }

SHARE(share_of_1)
SHARE(share_of_4)
SHARE(share_of_15)
SHARE(share_of_80)

/// Returns the processor time behind the call: it stays on the stack until then.
#define CALLER(name, small, large)                                                                                     \
    double name(int is_large, double end);                                                                             \
    __attribute__((noipa)) double name(int is_large, double end)                                                       \
    {                                                                                                                  \
        (is_large ? large : small)(end);                                                                               \
        return seconds_of(CLOCK_THREAD_CPUTIME_ID);                                                                    \
    }

CALLER(caller_of_5, share_of_1, share_of_4)
CALLER(caller_of_95, share_of_15, share_of_80)

enum { functions = 4, most_pieces = 8 };

struct piece {
    int function;
    double begin, end;  // elapsed
    double took;        // of the processor
};

static struct piece work(unsigned* seed, int other_way_round)
{
    static const int percents[functions] = {1, 4, 15, 80};
    int function = 0;
    for (int rest = rand_r(seed) % 100; rest >= percents[function]; ++function)
        rest -= percents[function];
    if (other_way_round)
        function = functions - 1 - function;
    struct piece piece = {function, seconds_of(CLOCK_MONOTONIC), 0, 0};
    const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    const double end = before + 4e-3 * rand_r(seed) / RAND_MAX;  // 2 ms on average
    piece.took = (function < 2 ? caller_of_5 : caller_of_95)(function % 2, end) - before;
    piece.end = seconds_of(CLOCK_MONOTONIC);
    return piece;
}

/// Of each function.
struct times {
    double took[functions], elapsed[functions];
};

static void add(struct times* sum, const struct piece* piece, double part)
{
    sum->took[piece->function] += part * piece->took;
    sum->elapsed[piece->function] += part * (piece->end - piece->begin);
}

static void alone(unsigned seed, double length, struct times* path)
{
    for (double sum = 0; sum < length;) {
        const struct piece piece = work(&seed, 0);
        add(path, &piece, 1);
        sum += piece.took;
    }
}

static void ranks(unsigned seed, double length, struct times* path)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    seed = seed * 1000 + (unsigned)rank;
    double end = seconds_of(CLOCK_MONOTONIC) + length;
    MPI_Bcast(&end, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    struct {
        double at;
        int rank;
    } mine, last = {0, 0};
    for (int round = 0; last.at <= end; ++round) {
        struct piece pieces[most_pieces];
        const int has_more = round % size == rank;
        const int number = 1 + rand_r(&seed) % (has_more ? most_pieces : most_pieces / 3);
        for (int i = 0; i < number; ++i)
            pieces[i] = work(&seed, !has_more);
        mine.rank = rank;
        mine.at = seconds_of(CLOCK_MONOTONIC);
        MPI_Allreduce(&mine, &last, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
        for (int i = 0; i < number && last.rank == rank; ++i)
            add(path, &pieces[i], 1);
    }
}

static void team(unsigned seed, double length, struct times* path)
{
    unsigned seeds[2] = {seed * 2, seed * 2 + 1};
    const double end = seconds_of(CLOCK_MONOTONIC) + length;
    while (seconds_of(CLOCK_MONOTONIC) < end) {
        struct piece pieces[2][most_pieces];
        int number[2];
#pragma omp parallel num_threads(2)
        {
            const int thread = omp_get_thread_num();
            number[thread] = 1 + rand_r(&seeds[thread]) % most_pieces;
            for (int i = 0; i < number[thread]; ++i)
                pieces[thread][i] = work(&seeds[thread], thread);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < number[0]; ++i)
            add(path, &pieces[0][i], 1);
        const double waits_from = pieces[0][number[0] - 1].end;
        for (int i = 0; i < number[1]; ++i) {
            const struct piece* piece = &pieces[1][i];
            const double from = piece->begin > waits_from ? piece->begin : waits_from;
            if (piece->end > from)
                add(path, piece, (piece->end - from) / (piece->end - piece->begin));
        }
    }
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    const unsigned seed = (unsigned)atoi(argc > 1 ? argv[1] : "1");
    const double length = atof(argc > 2 ? argv[2] : "2");
    const char* how = argc > 3 ? argv[3] : "alone";
    struct times mine = {{0}, {0}}, sum = {{0}, {0}};
    (strcmp(how, "team") == 0 ? team : strcmp(how, "ranks") == 0 ? ranks : alone)(seed, length, &mine);
    MPI_Reduce(mine.took, sum.took, functions, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine.elapsed, sum.elapsed, functions, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("share_of_1 %.9f\nshare_of_4 %.9f\nshare_of_15 %.9f\nshare_of_80 %.9f\n"
               "caller_of_5 %.9f\ncaller_of_95 %.9f\n",
               sum.took[0], sum.took[1], sum.took[2], sum.took[3], sum.elapsed[0] + sum.elapsed[1],
               sum.elapsed[2] + sum.elapsed[3]);
    return MPI_Finalize();
}

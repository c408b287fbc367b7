// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// One rank that spends processor time in four functions, in pieces of random length (argument 1: seed; argument 2:
// seconds), and prints how much each of them took: what sampling is to find out.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double thread_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
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
        } while (thread_seconds() < end);                                                                              \
    }

SHARE(share_of_1)
SHARE(share_of_4)
SHARE(share_of_15)
SHARE(share_of_80)

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    static void (*const functions[])(double) = {share_of_1, share_of_4, share_of_15, share_of_80};
    static const char* const names[] = {"share_of_1", "share_of_4", "share_of_15", "share_of_80"};
    const int percents[] = {1, 4, 15, 80};
    double taken[4] = {0};
    srand((unsigned)atoi(argc > 1 ? argv[1] : "1"));
    const double length = atof(argc > 2 ? argv[2] : "2");
    double now = thread_seconds();
    for (const double end = now + length; now < end;) {
        int which = 0;
        for (int rest = rand() % 100; rest >= percents[which]; ++which)
            rest -= percents[which];
        const double before = now;
        functions[which](before + 4e-3 * rand() / RAND_MAX);  // 2 ms on average
        now = thread_seconds();
        taken[which] += now - before;
    }
    for (int i = 0; i < 4; ++i)
        printf("%s %.9f\n", names[i], taken[i]);
    return MPI_Finalize();
}

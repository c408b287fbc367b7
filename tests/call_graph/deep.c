// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// `deep SECONDS`: main > often > shared > work computes for so long, of the processor's time, and main > rarely >
// shared > work next to nothing; but what calls MPI in `shared` is the latter. A call of `shared` has more on the stack
// than a sample with frame pointers copies; with BYTES above 16384, more than any sample does by default. Likewise
// IN_MAIN of `main`.
#include <mpi.h>

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define FUNCTION __attribute__((noipa))
#define NOT_THE_LAST() __asm__ volatile("" ::: "memory")

#ifndef BYTES
#define BYTES 1000
#endif

#ifndef IN_MAIN
#define IN_MAIN 1
#endif

enum { rounds = 20000, bytes = BYTES, in_main = IN_MAIN };

FUNCTION uint64_t work(uint64_t x)
{
    for (int i = 0; i < rounds; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

FUNCTION uint64_t shared(uint64_t x, int times, int calls_mpi)
{
    volatile char many[bytes];
    for (int i = 0; i < bytes; i += 1000) {
        many[i] = 1;  // the kernel copies only pages that are there
    }
    many[x % bytes] = 1;
    for (int i = 0; i < times; ++i) {
        x = work(x);
    }
    if (calls_mpi) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return x + (uint64_t)many[x % bytes];
}

FUNCTION uint64_t rarely(uint64_t x)
{
    x = shared(x, 1, 1);
    NOT_THE_LAST();
    return x;
}

FUNCTION uint64_t often(uint64_t x)
{
    x = shared(x, 100, 0);
    NOT_THE_LAST();
    return x;
}

int main(int argc, char** argv)
{
    volatile char many[in_main];
    many[0] = 1;
    MPI_Init(&argc, &argv);
    const double seconds = argc > 1 ? atof(argv[1]) : 1;
    const clock_t begin = clock();
    uint64_t x = 1;
    while ((double)(clock() - begin) < seconds * CLOCKS_PER_SEC) {
        x = rarely(often(x));
    }
    MPI_Finalize();
    return x == 0 || many[0] == 0;
}

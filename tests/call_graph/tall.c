// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An MPI program whose functions have much more on the stack than a sample copies: `tall SECONDS OFTEN RARELY
// [thread]` computes for so long, of the processor's time, in
//
//   main > compute > first > wide > middle > hot_of_first       OFTEN times, of about a millisecond each,
//   main > compute > second > wide > middle > hot_of_second     then RARELY times, and so on
//
// or in a thread that begins with `compute`. Frames are at the same places of the stack. Both do the same; by the last
// function one is told from the other.
#include <mpi.h>

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FUNCTION __attribute__((noipa))
#define NOT_THE_LAST() __asm__ volatile("" ::: "memory")

enum { rounds = 4000, in_wide = 300000, in_middle = 100000, in_hot = 40000, page = 1000, times = 100 };

// The kernel copies only pages that are there.
static inline __attribute__((always_inline)) void fill(volatile char* bytes, int size, uint64_t x)
{
    for (int i = 0; i < size; i += page) {
        bytes[i] = (char)x;
    }
}

static inline __attribute__((always_inline)) uint64_t stir(uint64_t x)
{
    for (int i = 0; i < rounds; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

FUNCTION uint64_t hot_of_first(uint64_t x)
{
    volatile char many[in_hot];
    fill(many, in_hot, x);
    return stir(x) + (uint64_t)many[x % in_hot];
}

FUNCTION uint64_t hot_of_second(uint64_t x)
{
    volatile char many[in_hot];
    fill(many, in_hot, x);
    return stir(x) + (uint64_t)many[x % in_hot];
}

// From one place, so that nothing but who has called `wide` tells the two ways apart.
FUNCTION uint64_t middle(uint64_t x, uint64_t (*hot)(uint64_t))
{
    volatile char many[in_middle];
    fill(many, in_middle, x);
    for (int i = 0; i < times; ++i) {
        x += hot(x);
    }
    return (x | 1) + (uint64_t)many[x % in_middle];
}

FUNCTION uint64_t wide(uint64_t x, uint64_t (*hot)(uint64_t))
{
    volatile char many[in_wide];
    fill(many, in_wide, x);
    x += middle(x, hot);
    x += middle(x, hot);
    return (x | 1) + (uint64_t)many[x % in_wide];
}

FUNCTION uint64_t first(uint64_t x)
{
    x = wide(x, hot_of_first);
    NOT_THE_LAST();
    return x;
}

FUNCTION uint64_t second(uint64_t x)
{
    x = wide(x, hot_of_second);
    NOT_THE_LAST();
    return x;
}

struct task {
    double seconds;
    int often, rarely;
    uint64_t result;
};

FUNCTION void* compute(void* argument)
{
    struct task* task = argument;
    const clock_t begin = clock();
    uint64_t x = 88172645463325252ULL;
    while ((double)(clock() - begin) < task->seconds * CLOCKS_PER_SEC) {
        for (int i = 0; i < task->often; ++i) {
            x = first(x);
        }
        for (int i = 0; i < task->rarely; ++i) {
            x = second(x);
        }
    }
    task->result = x;
    return NULL;
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    struct task task = {.seconds = argc > 1 ? strtod(argv[1], NULL) : 1,
                        .often = argc > 2 ? atoi(argv[2]) : 1,
                        .rarely = argc > 3 ? atoi(argv[3]) : 0};
    pthread_t thread;
    if (argc > 4 && strcmp(argv[4], "thread") == 0 && pthread_create(&thread, NULL, compute, &task) == 0) {
        pthread_join(thread, NULL);
    } else {
        compute(&task);
    }
    MPI_Finalize();
    return task.result == 0;
}

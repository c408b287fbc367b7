// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// An MPI program whose call tree is known: `tree SECONDS [die]` computes for so long in these, again and again, and
// ends as it should, or is killed before:
//
//   main > outer > mid > leaf                          nothing but registers: needs no frame
//   main > outer > mid > framed                        with variables on the stack
//   main > outer > ends_in_call > tail                 at -O2 and -O3 the second is gone: its call is a jump
//   main > climb > climb > climb > climb > summit      equal return addresses behind each other
//   main > sort > (of the C library) > compare
//   main > asks > ask > (of the C library, and the code that the kernel lends)
//   main > falls > traps > (where a handler returns to) > handle       its first instruction is not allowed
#define _GNU_SOURCE
#include <mpi.h>

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define FUNCTION __attribute__((noipa))
#define NOT_THE_LAST() __asm__ volatile("" ::: "memory")

enum { rounds = 20000, numbers = 64, words = 16 };

uint64_t leaf(uint64_t x);
uint64_t framed(uint64_t x);
uint64_t tail(uint64_t x);
uint64_t ends_in_call(uint64_t x);
uint64_t mid(uint64_t x);
uint64_t outer(uint64_t x);
uint64_t summit(uint64_t x);
uint64_t climb(uint64_t x, int height);
int compare(const void* a, const void* b);
uint64_t sort(uint64_t x);
uint64_t ask(uint64_t x);
uint64_t asks(uint64_t x);

static inline __attribute__((always_inline)) uint64_t stir(uint64_t x, int times)
{
    for (int i = 0; i < times; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

FUNCTION uint64_t leaf(uint64_t x)
{
    return stir(x, rounds);
}

FUNCTION uint64_t framed(uint64_t x)
{
    volatile uint64_t many[words] = {0};
    for (int i = 0; i < rounds; ++i) {
        many[i % words] = x;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= many[(i + 7) % words] << 17;
    }
    return x | 1;
}

FUNCTION uint64_t tail(uint64_t x)
{
    return stir(x, rounds);
}

FUNCTION uint64_t ends_in_call(uint64_t x)
{
    return tail(x + 1);
}

FUNCTION uint64_t mid(uint64_t x)
{
    x += leaf(x);
    NOT_THE_LAST();
    x += framed(x);
    NOT_THE_LAST();
    return x;
}

FUNCTION uint64_t outer(uint64_t x)
{
    x += mid(x);
    NOT_THE_LAST();
    x += ends_in_call(x);
    NOT_THE_LAST();
    return x;
}

FUNCTION uint64_t summit(uint64_t x)
{
    return stir(x, rounds);
}

FUNCTION uint64_t climb(uint64_t x, int height)
{
    x += height > 1 ? climb(x, height - 1) : summit(x);
    NOT_THE_LAST();
    return x;
}

FUNCTION int compare(const void* a, const void* b)
{
    uint64_t x;
    uint64_t y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    x = stir(x | 1, 100);
    y = stir(y | 1, 100);
    return x < y ? -1 : x > y;
}

FUNCTION uint64_t sort(uint64_t x)
{
    uint64_t values[numbers];
    for (int i = 0; i < numbers; ++i) {
        x = stir(x, 1);
        values[i] = x;
    }
    qsort(values, numbers, sizeof values[0], compare);
    NOT_THE_LAST();
    return values[0];
}

FUNCTION uint64_t ask(uint64_t x)
{
    for (int i = 0; i < rounds / 5; ++i) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        x ^= (uint64_t)now.tv_nsec;
    }
    return x;
}

FUNCTION uint64_t asks(uint64_t x)
{
    x += ask(x);
    NOT_THE_LAST();
    return x;
}

#ifdef __x86_64__
__asm__(".text\n .p2align 4\n .type traps, @function\n"
        "traps:\n .cfi_startproc\n ud2\n ret\n .cfi_endproc\n .size traps, .-traps");
void traps(void);

FUNCTION void handle(int signal, siginfo_t* info, void* context)
{
    (void)signal, (void)info;
    ucontext_t* interrupted = context;
    enum { behind = 2 };
    const uint64_t stirred = stir(88172645463325252ULL, rounds);  // never 0
    interrupted->uc_mcontext.gregs[REG_RIP] += behind + (stirred == 0);
}

FUNCTION void falls(void)
{
    traps();
    NOT_THE_LAST();
}

static void allow_falls(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigaction(SIGILL, &action, NULL);
}
#else
static void falls(void) {}
static void allow_falls(void) {}
#endif

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    allow_falls();
    const double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.25;
    uint64_t x = 88172645463325252ULL;
    const clock_t begin = clock();
    while ((double)(clock() - begin) < seconds * CLOCKS_PER_SEC) {
        x += outer(x);
        x += climb(x, 4);
        x += sort(x | 1);
        x += asks(x);
        falls();
    }
    if (argc > 2 && strcmp(argv[2], "die") == 0)
        raise(SIGKILL);
    MPI_Finalize();
    return x == 0;
}

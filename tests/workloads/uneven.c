// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// Any number of ranks work some ms a step and wait for each other in MPI_Allreduce; not all are alike: uneven HOW STEPS
// [CPU [CPU]]
//
//   faults     1 ms; rank 1 gives 16 MiB of memory back in each step and touches their 4096 pages again
//   caches     1 ms, and 50,000 links from one cache line to the next; those of rank 1 lie all over 64 MiB, those of
//              the others in 4 KiB
//   sometimes  5 ms; rank 1 works 30 ms in the steps 6, 13, 20, ... (each seventh)
//   wander     likewise, but in each of these steps another rank does, drawn with a fixed seed
//   reasons    5 ms; rank 0 sleeps 40 ms in each step, and rank 1 works 600 ms more in the steps 10, 25, 40, ... (each
//              fifteenth)
//   spare      5 ms, but on the last rank 0.5 ms
//   phases     two phases with an MPI_Allreduce behind each: rank 0 works 8 ms in the first and 2 ms in the second,
//              the others the other way round
//   branches   5 ms, rank 1 10 ms, and the ranks but the first call MPI_Allreduce in another branch
//   share      10 ms; rank 1 runs on the processor CPU only, where the test lets others run, too
//   moves      0.5 ms; rank 1 works 10 ms, and after each millisecond goes on on the other one of two processors
//
// Path: rank 1 in `faults`, `caches`, `branches`, `share` and `moves`; rank 0 and rank 1 by turns in `phases`; in each
// seventh step of `sometimes` and `wander`, whoever works for 30 ms; in each fifteenth
// of `reasons` rank 1, in its others rank 0; in `spare` any of those that work for 5 ms.
#define _GNU_SOURCE
#include "work.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

WORK(work_step)
WORK(work_more)

enum { pages = 4096, page = 4096 };

void touch_new_memory(char* memory);
__attribute__((noipa)) void touch_new_memory(char* memory)
{
    madvise(memory, (size_t)pages * page, MADV_DONTNEED);
    for (size_t i = 0; i < pages; ++i)
        memory[i * page] = 1;
}

static char* map_memory(void)
{
    char* memory = mmap(NULL, (size_t)pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    madvise(memory, (size_t)pages * page, MADV_NOHUGEPAGE);  // where there are none, it fails and does no harm
    return memory;
}

enum { cache_line = 64, near_lines = 64, far_lines = 1 << 20, links = 50000 };

struct line {
    struct line* next;
    char rest[cache_line - sizeof(struct line*)];
};

/// All of them, in one ring of random order (S. Sattolo).
static struct line* make_ring(size_t lines)
{
    struct line* ring = aligned_alloc(cache_line, lines * sizeof *ring);
    if (!ring)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < lines; ++i)
        ring[i].next = ring + i;
    unsigned long drawn = 12345;
    for (size_t i = lines - 1; i > 0; --i) {
        drawn = drawn * 6364136223846793005UL + 1442695040888963407UL;
        struct line* other = ring + (drawn >> 33) % i;
        struct line* next = other->next;
        other->next = ring[i].next;
        ring[i].next = next;
    }
    return ring;
}

struct line* follow_links(struct line* from);
__attribute__((noipa)) struct line* follow_links(struct line* from)
{
    for (int i = 0; i < links; ++i)
        from = from->next;
    return from;
}

static void keep_to(int processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void work_here_and_there(const int* processors)
{
    for (int piece = 0; piece < 10; ++piece) {
        work_more(1);
        keep_to(processors[piece % 2]);
    }
}

static void sleep_or_work_more(int rank, int step)
{
    const struct timespec pause = {0, 40000000};
    if (rank == 0)
        nanosleep(&pause, NULL);
    if (rank == 1 && step % 15 == 10)
        work_more(600);
}

static void two_phases(int rank, int steps)
{
    int one = 1, sum;
    for (int step = 0; step < steps; ++step) {
        work_step(rank == 0 ? 8 : 2);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        work_more(rank == 0 ? 2 : 8);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv)
{
    if (argc < 3)
        return 2;
    const char* how = argv[1];
    const int steps = atoi(argv[2]);
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int share = strcmp(how, "share") == 0, faults = strcmp(how, "faults") == 0;
    const int sometimes = strcmp(how, "sometimes") == 0, wander = strcmp(how, "wander") == 0;
    const int branches = strcmp(how, "branches") == 0, caches = strcmp(how, "caches") == 0;
    const int reasons = strcmp(how, "reasons") == 0;
    const int spare = strcmp(how, "spare") == 0 && rank == ranks - 1;
    const int moves = strcmp(how, "moves") == 0 && argc > 4;
    const double usual_ms = faults || caches ? 1 : spare || moves ? 0.5 : share ? 10 : 5;
    char* memory = faults && rank == 1 ? map_memory() : NULL;
    struct line* line = caches ? make_ring(rank == 1 ? far_lines : near_lines) : NULL;
    if (share && rank == 1 && argc > 3)
        keep_to(atoi(argv[3]));
    const int processors[] = {moves ? atoi(argv[3]) : 0, moves ? atoi(argv[4]) : 0};
    MPI_Barrier(MPI_COMM_WORLD);

    if (strcmp(how, "phases") == 0) {
        two_phases(rank, steps);
        MPI_Finalize();
        return 0;
    }
    unsigned drawn = 12345;
    for (int step = 0; step < steps; ++step) {
        if (moves && rank == 1)
            work_here_and_there(processors);
        else
            work_step(usual_ms);
        drawn = drawn * 1103515245 + 12345;
        if (branches && rank == 1)
            work_more(5);
        const int slow = sometimes ? 1 : wander ? (int)(drawn >> 16) % ranks : -1;
        if (rank == slow && step % 7 == 6)
            work_more(25);
        if (reasons)
            sleep_or_work_more(rank, step);
        if (memory)
            touch_new_memory(memory);
        if (line)
            line = follow_links(line);
        int one = 1, sum;
        if (!branches || rank == 0) {
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        } else {
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            __asm__ volatile("");  // else the compiler makes one call of the two
        }
    }
    MPI_Finalize();
    return 0;
}

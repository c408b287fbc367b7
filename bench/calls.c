// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the timing of cheap MPI calls that need no other process, so that what a recorder adds to each is not lost in
// the transport: elapsed ns a call, one line a kind, `<name> <calls> <ns>`; MPI_Finalize is a kind whose ns are divided
// by all calls before it. Then the most memory that the process has had, `memory <when> <KiB>`.
//
// usage: calls [DEPTH]   calls from DEPTH functions inside main (default 1)
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { rounds = 50000, warm_up = 1000, tag = 1 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void send_to_nobody(void)
{
    int data = 0;
    MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_SELF);
}

static void barrier_alone(void)
{
    MPI_Barrier(MPI_COMM_SELF);
}

static void allreduce_alone(void)
{
    int data = 1, sum;
    MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void isend_recv_wait_self(void)
{
    int out = 1, in;
    MPI_Request request;
    MPI_Isend(&out, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request);
    MPI_Recv(&in, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void irecv_isend_waitall_self(void)
{
    int out = 1, in;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static MPI_Request never;

static void test_in_vain(void)
{
    int flag;
    MPI_Test(&never, &flag, MPI_STATUS_IGNORE);
}

static void test_and_iprobe_in_vain(void)
{
    int flag;
    MPI_Test(&never, &flag, MPI_STATUS_IGNORE);
    MPI_Iprobe(0, tag + 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static const struct {
    const char* name;
    int calls;
    void (*run)(void);
} kinds[] = {
    {"send_to_nobody", 1, send_to_nobody},
    {"barrier_alone", 1, barrier_alone},
    {"allreduce_alone", 1, allreduce_alone},
    {"isend_recv_wait_self", 3, isend_recv_wait_self},
    {"irecv_isend_waitall_self", 3, irecv_isend_waitall_self},
    {"test_in_vain", 1, test_in_vain},
    {"test_and_iprobe_in_vain", 2, test_and_iprobe_in_vain},
};

static long all_calls = 0;

static void measure(void)
{
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; ++kind) {
        for (int i = 0; i < warm_up; ++i)
            kinds[kind].run();
        const double begin = now();
        for (int i = 0; i < rounds; ++i)
            kinds[kind].run();
        const int calls = rounds * kinds[kind].calls;
        printf("%s %d %.2f\n", kinds[kind].name, calls, (now() - begin) / calls);
        all_calls += (rounds + warm_up) * kinds[kind].calls;
    }
}

// One function more on the way to each call; neither inlined nor left by a jump.
__attribute__((noinline)) static void descend(int depth)
{
    if (depth > 1)
        descend(depth - 1);
    else
        measure();
    __asm__ volatile("" ::: "memory");
}

// KiB. Not getrusage(): that counts what the process was before it became this program.
static long peak_memory(void)
{
    long peak = -1;
    char line[256];
    FILE* status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmHWM: %ld", &peak) == 1)
            break;
    if (status != NULL)
        fclose(status);
    return peak;
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int nothing;
    MPI_Irecv(&nothing, 1, MPI_INT, 0, tag + 1, MPI_COMM_SELF, &never);
    descend(argc > 1 ? atoi(argv[1]) : 1);
    MPI_Cancel(&never);
    MPI_Wait(&never, MPI_STATUS_IGNORE);
    const long before = peak_memory();
    const double begin = now();
    MPI_Finalize();
    printf("finalize %ld %.2f\n", all_calls, (now() - begin) / (double)all_calls);
    printf("memory before_finalize %ld\nmemory at_the_end %ld\n", before, peak_memory());
    return 0;
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a program whose ranks switch the recording on and off at different moments, while messages and collectives are
// under way. Each message of a channel and each collective of a communicator has its own size, so that whoever pairs
// them can be checked: switched <seed> <mode>. Modes: pcontrol (each rank switches where it wants), steady (nobody
// does, for --range and --exclude), unfinished (as steady, but rank 1 never completes its first collective), few (as
// steady, but hardly any file may be opened after MPI_Init).
#include <mpi.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { steps = 120, most = 8, largest = 4096, specific = 0, wild = 1 };

static int rank, size, step;
static unsigned seed;

// What the ranks agree on without talking; `who` -1: the same on all.
static unsigned draw(int who, int what)
{
    unsigned long x = (((seed * 1000UL + (unsigned)step) * 100 + (unsigned)(who + 1)) * 10000 + (unsigned)what);
    for (int i = 0; i < 3; ++i)
        x = (x ^ x >> 31) * 0x9e3779b97f4a7c15UL;
    return (unsigned)(x >> 40);
}

// Open operations: completed some steps later.
static struct {
    MPI_Request request;
    void* memory;
    int until;
} pending[4 * most];

static void later(MPI_Request request, void* memory, unsigned steps_later)
{
    for (int i = 0; i < 4 * most; ++i)
        if (pending[i].memory == NULL) {
            pending[i].request = request;
            pending[i].memory = memory;
            pending[i].until = step + (int)steps_later;
            return;
        }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(memory);
}

static void complete(int now)
{
    MPI_Request due[4 * most];
    void* memory[4 * most];
    int n = 0;
    for (int i = 0; i < 4 * most; ++i)
        if (pending[i].memory != NULL && pending[i].until <= now) {
            due[n] = pending[i].request;
            memory[n++] = pending[i].memory;
            pending[i].memory = NULL;
        }
    int flag = 0, done, which[4 * most];
    switch (draw(rank, 99) % 4) {
    case 0:
        MPI_Waitall(n, due, MPI_STATUSES_IGNORE);
        break;
    case 1:
        for (int left = n; left > 0;) {
            MPI_Waitsome(n, due, &done, which, MPI_STATUSES_IGNORE);
            left -= done == MPI_UNDEFINED ? left : done;
        }
        break;
    case 2:
        for (int i = 0; i < n; ++i)
            MPI_Waitany(n, due, &which[0], MPI_STATUS_IGNORE);
        break;
    default:
        while (!flag)
            MPI_Testall(n, due, &flag, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < n; ++i)
        free(memory[i]);
}

static int bytes_of_step(int which)
{
    return 8 + 4 * step + which;
}

static void send(int to, int tag)
{
    void* buffer = calloc(1, largest);
    MPI_Request request;
    const int bytes = bytes_of_step(tag);
    switch (draw(rank, 10 + tag) % 4) {
    case 0:
        MPI_Send_init(buffer, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        free(buffer);
        break;
    case 1:
        MPI_Send(buffer, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
        free(buffer);
        break;
    default:
        MPI_Isend(buffer, bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
        later(request, buffer, draw(rank, 20) % 4);
    }
}

static void maybe_switch(int place)
{
    static int is_on = 1;
    if (draw(rank, 1000 + place) % 8 == 0)
        MPI_Pcontrol(is_on = !is_on);
}

static void receive(int from, int tag, int switches)
{
    void* buffer = calloc(1, largest);
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    switch (draw(rank, 30 + tag) % 6) {
    case 0:
        MPI_Recv(buffer, largest, MPI_BYTE, from, tag, MPI_COMM_WORLD, &status);
        break;
    case 1:
        MPI_Probe(from, tag, MPI_COMM_WORLD, &status);
        if (switches)
            maybe_switch(40 + tag);
        MPI_Recv(buffer, largest, MPI_BYTE, from, tag, MPI_COMM_WORLD, &status);
        break;
    case 2:
        MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, &status);
        if (switches)
            maybe_switch(50 + tag);
        MPI_Mrecv(buffer, largest, MPI_BYTE, &message, &status);
        break;
    case 3:
        MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, &status);
        if (switches)
            maybe_switch(60 + tag);
        MPI_Imrecv(buffer, largest, MPI_BYTE, &message, &request);
        later(request, buffer, draw(rank, 70 + tag) % 4);
        return;
    default:
        MPI_Irecv(buffer, largest, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
        later(request, buffer, draw(rank, 70 + tag) % 4);
        return;
    }
    free(buffer);
}

static void broadcast(MPI_Comm comm, int which)
{
    void* buffer = calloc(1, largest);
    const int bytes = bytes_of_step(which);
    if (draw(-1, 80 + which) % 2 == 0) {
        MPI_Bcast(buffer, bytes, MPI_BYTE, 0, comm);
        free(buffer);
        return;
    }
    MPI_Request request;
    MPI_Ibcast(buffer, bytes, MPI_BYTE, 0, comm, &request);
    later(request, buffer, draw(rank, 90) % 3);
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    const int switches = argc > 2 && strcmp(argv[2], "pcontrol") == 0;
    if (argc > 2 && strcmp(argv[2], "unfinished") == 0) {
        char buffer[4] = {0};
        MPI_Request request;
        int done = rank != 1;
        MPI_Ibcast(buffer, 4, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
        if (done)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        while (!done)
            MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    }
    if (argc > 2 && strcmp(argv[2], "few") == 0)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){8, 8});
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (step = 0; step < steps; ++step) {
        if (switches)
            maybe_switch(0);
        send((rank + 1) % size, specific);
        if (switches)
            maybe_switch(1);
        send((rank + 1) % size, wild);
        send((rank + 2) % size, wild);
        if (switches)
            maybe_switch(2);
        receive((rank + size - 1) % size, specific, switches);
        receive(MPI_ANY_SOURCE, wild, switches);
        receive(MPI_ANY_SOURCE, wild, switches);
        if (switches)
            maybe_switch(3);
        if (draw(-1, 3) % 3 == 0)
            broadcast(MPI_COMM_WORLD, 0);
        if (draw(-1, 4) % 3 == 0)
            broadcast(half, 1);
        if (draw(-1, 5) % 8 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        if (draw(-1, 6) % 16 == 0) {
            MPI_Comm copy;
            MPI_Comm_dup(half, &copy);
            MPI_Comm_free(&copy);
        }
        complete(step);
    }
    complete(2 * steps);
    MPI_Pcontrol(1);
    // All channels once more: whatever was miscounted shows here.
    seed = 1;
    send((rank + 1) % size, specific);
    receive((rank + size - 1) % size, specific, 0);
    complete(2 * steps);
    broadcast(half, 1);
    broadcast(MPI_COMM_WORLD, 0);
    complete(2 * steps);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}

/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owns the calls of dynamic_test.py: processes that come in while the program runs, local work, control and abort. One
 * function a case, named by the first argument. What is printed must not depend on the recorder. */
#include "cases.h"

#include <mpi.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int buffer[1024], other[1024];
static char* self;

/* Parents and children do the same here; `parents` is 1 with the parents. */
static void meet(MPI_Comm inter, int parents)
{
    MPI_Comm both, dup;
    MPI_Request request;
    int sum = 0, inter_size = 0, everybody = 0;
    MPI_Comm_remote_size(inter, &inter_size);
    if (rank == 0) {
        MPI_Sendrecv(&inter_size, 1, MPI_INT, 0, 5, &other, 1, MPI_INT, 0, 5, inter, MPI_STATUS_IGNORE);
        MPI_Irecv(buffer, 1, MPI_INT, 0, 6, inter, &request);
        MPI_Send(other, 1, MPI_INT, 0, 6, inter);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    MPI_Ibarrier(inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Intercomm_merge(inter, !parents, &both);
    MPI_Comm_dup(both, &dup);
    MPI_Comm_size(dup, &everybody);
    MPI_Bcast(buffer, 1, MPI_INT, 0, dup);
    if (parents) {
        printf("rank %d: met %d, sum %d, together %d\n", rank, inter_size, sum, everybody);
    }
    MPI_Comm_free(&dup);
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&inter);
}

static void child(void)
{
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    CHECK(parent != MPI_COMM_NULL);
    meet(parent, 0);
}

static void spawn(void)
{
    char* arguments[] = {"child", NULL};
    MPI_Comm children;
    int codes[2] = {-1, -1};
    MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 1, WORLD, &children, codes);
    CHECK(rank != 1 || (codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS));
    meet(children, 1);
    MPI_Barrier(WORLD);
}

static void spawn_multiple(void)
{
    char* commands[] = {self, self};
    char* arguments[] = {"child", NULL};
    char** argvs[] = {arguments, arguments};
    int counts[] = {1, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm children;
    MPI_Comm_spawn_multiple(2, commands, argvs, counts, infos, 0, WORLD, &children, MPI_ERRCODES_IGNORE);
    meet(children, 1);
    MPI_Barrier(WORLD);
}

static void spawn_nothing(void)
{
    MPI_Comm children = MPI_COMM_NULL;
    int class;
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 99, WORLD, &children, MPI_ERRCODES_IGNORE),
                    &class);
    printf("rank %d: %d\n", rank, class == MPI_ERR_ARG || class == MPI_ERR_ROOT);
}

/* Rank 0 with rank 1, by a port. Each is rank 0 of its side. */
static void connect_accept(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    const int world_rank = rank;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, 1, 1, WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Close_port(port);
    } else {
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 1, WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    }
    rank = 0;
    meet(inter, world_rank == 0);
    rank = world_rank;
}

/* Seen by rank 1 only. */
static void connect_unseen(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, 1, 1, WORLD);
        MPI_Pcontrol(0);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Pcontrol(1);
        MPI_Close_port(port);
    } else {
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 1, WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    }
    MPI_Barrier(inter);
    MPI_Comm_disconnect(&inter);
}

/* Rank 0 with rank 1, by a socket. */
static void join(void)
{
    MPI_Comm inter;
    const int world_rank = rank;
    struct sockaddr_in address = {0};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (rank == 0) {
        CHECK(bind(fd, (struct sockaddr*)&address, sizeof address) == 0 && listen(fd, 1) == 0);
        CHECK(getsockname(fd, (struct sockaddr*)&address, &length) == 0);
        MPI_Send(&address, sizeof address, MPI_BYTE, 1, 1, WORLD);
        fd = accept(fd, NULL, NULL);
    } else {
        MPI_Recv(&address, sizeof address, MPI_BYTE, 0, 1, WORLD, MPI_STATUS_IGNORE);
        CHECK(connect(fd, (struct sockaddr*)&address, sizeof address) == 0);
    }
    CHECK(fd >= 0);
    MPI_Comm_join(fd, &inter);
    rank = 0;
    meet(inter, world_rank == 0);
    rank = world_rank;
}

static void local(void)
{
    static char attached[4096], packed[256];
    void* memory;
    int position = 0, old_size, values[2] = {1, 2}, sums[2] = {10, 20}, dims = 2, periods = 0, new_rank;
    int degrees[2] = {1, 2}, edges[2] = {1, 0};
    MPI_Aint at = 0;
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Buffer_detach(&memory, &old_size);
    CHECK(memory == attached && old_size == sizeof attached);
    MPI_Alloc_mem(100, MPI_INFO_NULL, &memory);
    MPI_Pack(values, 2, MPI_INT, packed, sizeof packed, &position, WORLD);
    CHECK(position == 8);
    position = 0;
    MPI_Unpack(packed, 8, &position, memory, 2, MPI_INT, WORLD);
    CHECK(((int*)memory)[1] == 2);
    MPI_Pack_external("external32", values, 2, MPI_INT, packed, sizeof packed, &at);
    CHECK(at == 8);
    at = 0;
    MPI_Unpack_external("external32", packed, 8, &at, memory, 2, MPI_INT);
    MPI_Reduce_local(values, sums, 2, MPI_INT, MPI_SUM);
    CHECK(sums[1] == 22);
    MPI_Free_mem(memory);
    MPI_Cart_map(WORLD, 1, &dims, &periods, &new_rank);
    MPI_Graph_map(WORLD, 2, degrees, edges, &new_rank);
}

static void names(void)
{
    char port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME];
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name("critpath dynamic test", MPI_INFO_NULL, port);
    MPI_Lookup_name("critpath dynamic test", MPI_INFO_NULL, found);
    CHECK(strcmp(port, found) == 0);
    MPI_Unpublish_name("critpath dynamic test", MPI_INFO_NULL, port);
    MPI_Close_port(port);
}

static void pcontrol(void)
{
    CHECK(MPI_Pcontrol(1) == MPI_SUCCESS);
    CHECK(MPI_Pcontrol(2, "a name", 3.5) == MPI_SUCCESS);
    CHECK(MPI_Pcontrol(-7, NULL) == MPI_SUCCESS);
}

static void abort_job(void)
{
    MPI_Send(buffer, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD);
    MPI_Abort(WORLD, 42);
}

static const struct Case cases[] = {
    {"child", child},
    {"spawn", spawn},
    {"spawn_multiple", spawn_multiple},
    {"spawn_nothing", spawn_nothing},
    {"connect_accept", connect_accept},
    {"connect_unseen", connect_unseen},
    {"join", join},
    {"local", local},
    {"names", names},
    {"pcontrol", pcontrol},
    {"abort", abort_job},
};

int main(int argc, char** argv)
{
    self = argv[0];
    return run_cases(argc, argv, cases, sizeof cases / sizeof *cases, MPI_THREAD_SINGLE);
}

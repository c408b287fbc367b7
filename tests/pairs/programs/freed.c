// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Rank 0 sends ROUNDS messages on one channel, each of its own size. Rank 1 receives them, some with requests that it
// frees at once, or only after the next has come, while the recording is on or off. Two more sends have no receive.
//
// usage: freed ROUNDS
#include <mpi.h>

#include <stdlib.h>

static char buffer[2][4096];

static void receive(int way)
{
    MPI_Request request;
    MPI_Message message;
    switch (way) {
    case 1:
        MPI_Irecv(buffer[1], sizeof buffer[1], MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        break;
    case 3:
        MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        receive(0);
        MPI_Imrecv(buffer[1], sizeof buffer[1], MPI_BYTE, &message, &request);
        MPI_Request_free(&request);
        break;
    case 5:
        MPI_Irecv(buffer[1], sizeof buffer[1], MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        receive(0);
        MPI_Pcontrol(0);
        MPI_Request_free(&request);
        receive(0);
        MPI_Pcontrol(1);
        break;
    default:
        MPI_Recv(buffer[0], sizeof buffer[0], MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char** argv)
{
    const int messages_of[] = {1, 1, 1, 2, 1, 3};  // received in each way
    int rank, sent = 0;
    const int rounds = argc > 1 ? atoi(argv[1]) : 6;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < messages_of[round % 6] && rank == 0; ++i)
            MPI_Send(buffer[0], ++sent, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        if (rank == 1)
            receive(round % 6);
    }
    for (int i = 0; i < 2 && rank == 0; ++i)
        MPI_Send(buffer[0], 1, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(0);
    MPI_Finalize();
    return 0;
}

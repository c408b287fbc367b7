// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
// 2 ranks. Prints everything that MPI tells the application (statuses, flags, indices, error classes, handles), so that
// a run under cpcollect can be compared with one without. Covers what a wrapper can spoil: ignored statuses, null and
// inactive requests, persistent requests, cancelled receives, matched probes, freed requests, wildcards, error
// handlers. All choices that MPI leaves open are made deterministic by order.
#include <mpi.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int rank, partner;

static void say(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("%d: ", rank);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

static void say_status(const char* what, const MPI_Status* status)
{
    int count, cancelled;
    MPI_Get_count(status, MPI_INT, &count);
    MPI_Test_cancelled(status, &cancelled);
    say("%s: source %d tag %d count %d cancelled %d", what, status->MPI_SOURCE, status->MPI_TAG, count, cancelled);
}

static void blocking(void)
{
    int data[4] = {rank, 2, 3, 4}, in[8];
    MPI_Status status;
    MPI_Sendrecv(data, 4, MPI_INT, partner, 1, in, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    say_status("Sendrecv", &status);
    MPI_Sendrecv_replace(data, 3, MPI_INT, partner, 2, partner, 2, MPI_COMM_WORLD, &status);
    say_status("Sendrecv_replace", &status);
    say("replaced by %d", data[0]);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &status);
    say_status("Recv from nobody", &status);
    MPI_Send(in, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Send(data, 2, MPI_INT, 1, 3, MPI_COMM_WORLD);
        MPI_Ssend(data, 3, MPI_INT, 1, 4, MPI_COMM_WORLD);
    } else {
        MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        say_status("Probe", &status);
        MPI_Recv(in, 8, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Message message;
        MPI_Mprobe(0, 4, MPI_COMM_WORLD, &message, &status);
        say_status("Mprobe", &status);
        MPI_Mrecv(in, 8, MPI_INT, &message, &status);
        say_status("Mrecv", &status);
        say("message is null: %d", message == MPI_MESSAGE_NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void completions(void)
{
    int out[4] = {0}, in[4];
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int index, flag, done, indices[4];

    memset(statuses, 0, sizeof statuses);
    for (int i = 0; i < 4; ++i)
        requests[i] = MPI_REQUEST_NULL;
    MPI_Waitany(4, requests, &index, &statuses[0]);
    say("Waitany of nothing: undefined %d", index == MPI_UNDEFINED);
    MPI_Testsome(4, requests, &done, indices, statuses);
    say("Testsome of nothing: undefined %d", done == MPI_UNDEFINED);
    MPI_Wait(&requests[0], &statuses[0]);
    say_status("Wait for nothing", &statuses[0]);

    MPI_Irecv(&in[0], 1, MPI_INT, partner, 10, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[2], 1, MPI_INT, MPI_PROC_NULL, 11, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&out[0], 1, MPI_INT, partner, 10, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, statuses);
    say_status("Waitall 0", &statuses[0]);
    say_status("Waitall 1", &statuses[1]);
    say_status("Waitall 2", &statuses[2]);
    for (int i = 0; i < 4; ++i)
        say("request %d is null: %d", i, requests[i] == MPI_REQUEST_NULL);

    MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &requests[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, 1, MPI_INT, partner, 12, MPI_COMM_WORLD);
    do {
        MPI_Request_get_status(requests[0], &flag, &statuses[0]);
    } while (!flag);
    say_status("Request_get_status", &statuses[0]);
    do {
        MPI_Test(&requests[0], &flag, &statuses[1]);
    } while (!flag);
    say_status("Test", &statuses[1]);

    MPI_Irecv(&in[0], 1, MPI_INT, partner, 13, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
    MPI_Test_cancelled(&statuses[0], &flag);
    say("cancelled: %d", flag);

    MPI_Isend(out, 1, MPI_INT, partner, 14, MPI_COMM_WORLD, &requests[0]);
    MPI_Request_free(&requests[0]);
    MPI_Irecv(&in[0], 1, MPI_INT, partner, 14, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
    say("Waitsome: %d done, the first is %d", done, indices[0]);
}

static void persistent(void)
{
    int out = rank, in = -1, flag;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Recv_init(&in, 1, MPI_INT, partner, 20, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out, 1, MPI_INT, partner, 20, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; ++i) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        say_status("persistent", &statuses[0]);
    }
    MPI_Testall(2, requests, &flag, statuses);
    say("inactive requests are done: %d, null: %d", flag, requests[0] == MPI_REQUEST_NULL);
    MPI_Start(&requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
    MPI_Test_cancelled(&statuses[0], &flag);
    say("persistent, cancelled: %d", flag);
    for (int i = 0; i < 2; ++i)
        MPI_Request_free(&requests[i]);
}

static void communicators(void)
{
    MPI_Comm copy, half, inter;
    int result, size, in;
    MPI_Status status;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
    say("a duplicate is congruent: %d", result == MPI_CONGRUENT);
    MPI_Comm_split(copy, rank, 0, &half);
    MPI_Comm_size(half, &size);
    say("my part has %d", size);
    MPI_Intercomm_create(half, 0, copy, partner, 30, &inter);
    MPI_Comm_remote_size(inter, &size);
    say("the other part has %d", size);
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 31, &in, 1, MPI_INT, 0, 31, inter, &status);
    say_status("between the parts", &status);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Comm_split(copy, rank == 0 ? 0 : MPI_UNDEFINED, 0, &half);
    say("I have a part: %d", half != MPI_COMM_NULL);
    if (half != MPI_COMM_NULL)
        MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    say("a freed communicator is null: %d", copy == MPI_COMM_NULL);
}

static void errors(void)
{
    int data[2] = {0, 0}, class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Send(data, 1, MPI_INT, 99, 1, MPI_COMM_WORLD), &class);
    say("send to nobody's rank: rank error %d", class == MPI_ERR_RANK);
    MPI_Error_class(MPI_Recv(data, -1, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &class);
    say("negative count: count error %d", class == MPI_ERR_COUNT);
    MPI_Send(data, 2, MPI_INT, partner, 40, MPI_COMM_WORLD);
    MPI_Error_class(MPI_Recv(data, 1, MPI_INT, partner, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &class);
    say("too long a message: truncation %d", class == MPI_ERR_TRUNCATE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    partner = 1 - rank;
    say("thread level %d", provided);
    blocking();
    completions();
    persistent();
    communicators();
    errors();
    MPI_Finalize();
    return 0;
}

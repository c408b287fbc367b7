// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// 2 ranks. Blocking messages: PROC_NULL, zero counts, matched probes, datatypes with holes, MPI_BOTTOM, wrong
// arguments, error handlers, communicators, and errno.
#include "see.h"

#include <errno.h>
#include <setjmp.h>
#include <stddef.h>

static int partner;
static MPI_Status status;
static MPI_Request request;
static MPI_Message message;
static int flag;

static void see(const char* what, int code)
{
    see_code(what, code);
    see_status(what, &status);
    see_requests(what, &request, 1);
    say("%s: flag %d message %s", what, flag,
        message == MPI_MESSAGE_NULL      ? "null"
        : message == MPI_MESSAGE_NO_PROC ? "no proc"
                                         : "set");
    status = poisoned();
    request = MPI_REQUEST_NULL;
    flag = -77;
}

static void wait_and_see(const char* what, int code)
{
    see_code(what, code);
    MPI_Wait(&request, &status);
    see("Wait", MPI_SUCCESS);
}

static void proc_null(void)
{
    int data[4] = {1, 2, 3, 4};
    char buffer[256];
    message = MPI_MESSAGE_NULL;
    request = MPI_REQUEST_NULL;
    status = poisoned();
    MPI_Buffer_attach(buffer, sizeof buffer);
    see("Send", MPI_Send(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    see("Ssend", MPI_Ssend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    see("Bsend", MPI_Bsend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    see("Rsend", MPI_Rsend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    see("Recv", MPI_Recv(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    see("Recv, ignoring", MPI_Recv(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    see("Probe", MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    see("Iprobe", MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &status));
    see("Mprobe", MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status));
    see("Mrecv", MPI_Mrecv(data, 4, MPI_INT, &message, &status));
    see("Improbe", MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, &status));
    wait_and_see("Imrecv", MPI_Imrecv(data, 4, MPI_INT, &message, &request));
    wait_and_see("Isend", MPI_Isend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
    wait_and_see("Issend", MPI_Issend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
    wait_and_see("Ibsend", MPI_Ibsend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
    wait_and_see("Irsend", MPI_Irsend(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
    wait_and_see("Irecv", MPI_Irecv(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
    see("Sendrecv", MPI_Sendrecv(data, 1, MPI_INT, MPI_PROC_NULL, 1, data, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG,
                                 MPI_COMM_WORLD, &status));
    see("Sendrecv to one side", MPI_Sendrecv(data, 1, MPI_INT, rank == 0 ? 1 : MPI_PROC_NULL, 1, data + 1, 1, MPI_INT,
                                             rank == 0 ? MPI_PROC_NULL : 0, 1, MPI_COMM_WORLD, &status));
    see("Sendrecv_replace",
        MPI_Sendrecv_replace(data, 2, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    see_ints("data", data, 4);
    void* detached;
    int bytes;
    see("Buffer_detach", MPI_Buffer_detach(&detached, &bytes));
    say("the buffer is mine %d, has %d bytes", detached == buffer, bytes);
}

static void zero_counts(void)
{
    status = poisoned();
    see("Sendrecv",
        MPI_Sendrecv(NULL, 0, MPI_INT, partner, 2, NULL, 0, MPI_DOUBLE, partner, 2, MPI_COMM_WORLD, &status));
    int byte = 0x5a;
    if (rank == 0) {
        see("Send", MPI_Send(NULL, 0, MPI_INT, partner, 3, MPI_COMM_WORLD));
        MPI_Send(NULL, 0, MPI_INT, partner, 4, MPI_COMM_WORLD);
        MPI_Send(&byte, 1, MPI_INT, partner, 5, MPI_COMM_WORLD);
    } else {
        see("Recv", MPI_Recv(&byte, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status));
        see("Probe", MPI_Probe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status));
        see("Mprobe", MPI_Mprobe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &message, &status));
        see("Mrecv", MPI_Mrecv(&byte, 0, MPI_INT, &message, &status));
        see("Mprobe", MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
        wait_and_see("Imrecv", MPI_Imrecv(&byte, 1, MPI_INT, &message, &request));
    }
    see_ints("byte", &byte, 1);
}

// Bytes in the holes stay as they were.
static void datatypes(void)
{
    struct Mixed {
        char c;
        double d;
        short s;
    };
    MPI_Datatype vector, mixed, resized;
    const int lengths[3] = {1, 1, 1};
    const MPI_Aint places[3] = {offsetof(struct Mixed, c), offsetof(struct Mixed, d), offsetof(struct Mixed, s)};
    const MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    unsigned char here[4 * sizeof(struct Mixed)], there[4 * sizeof(struct Mixed)];
    MPI_Type_vector(3, 2, 4, MPI_SHORT, &vector);
    MPI_Type_create_struct(3, lengths, places, types, &mixed);
    MPI_Type_create_resized(mixed, 0, sizeof(struct Mixed), &resized);
    MPI_Type_commit(&vector);
    MPI_Type_commit(&resized);
    for (size_t i = 0; i < sizeof here; ++i)
        here[i] = (unsigned char)(i + 1);
    const MPI_Datatype both[2] = {vector, resized};
    for (int i = 0; i < 2; ++i) {
        memset(there, 0xee, sizeof there);
        status = poisoned();
        see("Sendrecv",
            MPI_Sendrecv(here, 2, both[i], partner, 6, there, 2, both[i], partner, 6, MPI_COMM_WORLD, &status));
        see_bytes("there", there, sizeof there);
        memset(there, 0xee, sizeof there);
        MPI_Irecv(there, 3, both[i], partner, 7, MPI_COMM_WORLD, &request);
        MPI_Send(here, 1, both[i], partner, 7, MPI_COMM_WORLD);
        MPI_Datatype freed = both[i];
        see_code("Type_free before Wait", MPI_Type_free(&freed));
        wait_and_see("Irecv", MPI_SUCCESS);
        see_bytes("there", there, sizeof there);
    }
    MPI_Type_free(&mixed);
}

static void bottom(void)
{
    int first[2] = {rank, 2}, second[3] = {3, 4, 5}, got[5] = {0}, apart[3] = {0};
    const int lengths[2] = {2, 3};
    MPI_Aint places[2];
    MPI_Datatype absolute, receiving;
    MPI_Get_address(first, &places[0]);
    MPI_Get_address(second, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &absolute);
    MPI_Get_address(got, &places[0]);
    MPI_Get_address(apart, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &receiving);
    MPI_Type_commit(&absolute);
    MPI_Type_commit(&receiving);
    status = poisoned();
    see("Sendrecv", MPI_Sendrecv(MPI_BOTTOM, 1, absolute, partner, 8, MPI_BOTTOM, 1, receiving, partner, 8,
                                 MPI_COMM_WORLD, &status));
    see_ints("got", got, 5);
    see_ints("apart", apart, 3);
    see_code("Bcast", MPI_Bcast(MPI_BOTTOM, 1, absolute, 1, MPI_COMM_WORLD));
    see_ints("first", first, 2);
    MPI_Type_free(&absolute);
    MPI_Type_free(&receiving);
}

static void wrong_calls(void)
{
    int data[4] = {1, 2, 3, 4}, undefined = -77;
    status = poisoned();
    see("Send to rank 99", MPI_Send(data, 1, MPI_INT, 99, 1, MPI_COMM_WORLD));
    see("Send, count -1", MPI_Send(data, -1, MPI_INT, partner, 1, MPI_COMM_WORLD));
    see("Send, tag -5", MPI_Send(data, 1, MPI_INT, partner, -5, MPI_COMM_WORLD));
    see("Send, null type", MPI_Send(data, 1, MPI_DATATYPE_NULL, partner, 1, MPI_COMM_WORLD));
    see("Isend to rank -9", MPI_Isend(data, 1, MPI_INT, -9, 1, MPI_COMM_WORLD, &request));
    see("Irecv from rank 99", MPI_Irecv(data, 1, MPI_INT, 99, 1, MPI_COMM_WORLD, &request));
    see("Recv, count -1", MPI_Recv(data, -1, MPI_INT, partner, 1, MPI_COMM_WORLD, &status));
    see("Recv, tag -5", MPI_Recv(data, 1, MPI_INT, partner, -5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    see("Probe, rank 99", MPI_Probe(99, 1, MPI_COMM_WORLD, &status));
    see("Iprobe, rank 99", MPI_Iprobe(99, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    see("Mprobe, rank 99", MPI_Mprobe(99, 1, MPI_COMM_WORLD, &message, &status));
    see("Sendrecv to rank 99",
        MPI_Sendrecv(data, 1, MPI_INT, 99, 1, data, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, &status));
    see("Send_init to rank 99", MPI_Send_init(data, 1, MPI_INT, 99, 1, MPI_COMM_WORLD, &request));
    see("Start of null", MPI_Start(&request));
    see("Cancel of null", MPI_Cancel(&request));
    see("Request_free of null", MPI_Request_free(&request));
    see("Bcast from rank 99", MPI_Bcast(data, 1, MPI_INT, 99, MPI_COMM_WORLD));
    see("Reduce, null operation", MPI_Reduce(data, data + 2, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD));
    see("Ibcast from rank -1", MPI_Ibcast(data, 1, MPI_INT, -1, MPI_COMM_WORLD, &request));
    see("Gather to rank 99", MPI_Gather(data, 1, MPI_INT, data + 2, 1, MPI_INT, 99, MPI_COMM_WORLD));
    see("Intercomm_create", MPI_Intercomm_create(MPI_COMM_WORLD, 99, MPI_COMM_WORLD, 0, 1, &(MPI_Comm){MPI_COMM_NULL}));
    see("Waitall, count -1", MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE));
    see("Testsome, count -1", MPI_Testsome(-1, &request, &undefined, data, MPI_STATUSES_IGNORE));
    see_ints("undefined", &undefined, 1);
    see_ints("data", data, 4);
}

#ifdef OPEN_MPI
// Where Open MPI checks pointers, which MPI does not ask for.
static void null_pointers(void)
{
    int data = 1, index;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    see_code("Isend", MPI_Isend(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, NULL));
    see_code("Wait", MPI_Wait(NULL, MPI_STATUS_IGNORE));
    see_code("Test", MPI_Test(&request, NULL, &status));
    see_code("Test", MPI_Test(NULL, &flag, &status));
    see_code("Waitall", MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
    see_code("Waitany", MPI_Waitany(1, &request, NULL, &status));
    see_code("Waitsome", MPI_Waitsome(1, &request, NULL, &index, MPI_STATUSES_IGNORE));
    see_code("Waitsome", MPI_Waitsome(1, &request, &index, NULL, MPI_STATUSES_IGNORE));
    see_code("Testall", MPI_Testall(1, &request, NULL, MPI_STATUSES_IGNORE));
    see_code("Testany", MPI_Testany(1, &request, NULL, &flag, MPI_STATUS_IGNORE));
    see_code("Testsome", MPI_Testsome(1, &request, NULL, &index, MPI_STATUSES_IGNORE));
    see_code("Start", MPI_Start(NULL));
    see_code("Startall", MPI_Startall(1, NULL));
    see_code("Cancel", MPI_Cancel(NULL));
    see_code("Request_free", MPI_Request_free(NULL));
    see_code("Mprobe", MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, NULL, &status));
    see_code("Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, NULL));
    see_code("Send, null communicator", MPI_Send(&data, 1, MPI_INT, 0, 1, MPI_COMM_NULL));
    see_code("Barrier, null communicator", MPI_Barrier(MPI_COMM_NULL));
}
#endif

static void errors_return(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    wrong_calls();
}

static int handler_calls;

// May call MPI itself.
static void handle(MPI_Comm* comm, int* code, ...)
{
    int mine, same, class;
    MPI_Comm_rank(*comm, &mine);
    MPI_Comm_compare(*comm, MPI_COMM_WORLD, &same);
    MPI_Error_class(*code, &class);
    say("handler call %d: rank %d, the world %d, code %d class %d", ++handler_calls, mine, same == MPI_IDENT,
        steady_code(*code), class);
    int data = 5, got = 0;
    MPI_Sendrecv(&data, 1, MPI_INT, 0, 9, &got, 1, MPI_INT, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void error_handler(void)
{
    MPI_Errhandler handler;
    int data[4] = {1, 2, 3, 4};
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    wrong_calls();
    MPI_Send(data, 3, MPI_INT, partner, 10, MPI_COMM_WORLD);
    see("Recv", MPI_Recv(data, 1, MPI_INT, partner, 10, MPI_COMM_WORLD, &status));
    // Not Waitall: Open MPI 4.1 waits for ever if that has nothing but a request that has failed already.
    MPI_Irecv(data, 1, MPI_INT, partner, 12, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(data, 3, MPI_INT, partner, 12, MPI_COMM_WORLD);
    MPI_Sendrecv(NULL, 0, MPI_INT, partner, 13, NULL, 0, MPI_INT, partner, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    see("Wait", MPI_Wait(&request, &status));
    MPI_Comm copy;
    see_code("Comm_dup", MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    see_code("Send in the copy", MPI_Send(data, 1, MPI_INT, 99, 1, copy));
    MPI_Comm_free(&copy);
    MPI_Errhandler_free(&handler);
}

static jmp_buf way_out;

static void jump(MPI_Comm* comm, int* code, ...)
{
    (void)comm;
    (void)code;
    longjmp(way_out, 1);
}

static void handler_that_jumps(void)
{
    MPI_Errhandler handler;
    int data = rank;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (setjmp(way_out) == 0) {
        MPI_Send(&data, 1, MPI_INT, 99, 1, MPI_COMM_WORLD);
        say("the handler has returned");
    } else {
        say("out of the handler");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    status = poisoned();
    see("Sendrecv_replace", MPI_Sendrecv_replace(&data, 1, MPI_INT, partner, 11, partner, 11, MPI_COMM_WORLD, &status));
}

// Where the MPI library leaves errno alone, so do we, however often we write.
static void errno_is_left_alone(void)
{
    int data = 0, changed = 0;
    for (int i = 0; i < 50000; ++i) {
        errno = 4711;
        MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
        MPI_Recv(&data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
        request = MPI_REQUEST_NULL;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        changed += errno != 4711;
    }
    say("errno has changed %d times", changed);
}

int main(int argc, char** argv)
{
    static const struct Scenario scenarios[] = {
        SCENARIO(proc_null),     SCENARIO(zero_counts),        SCENARIO(datatypes),
        SCENARIO(bottom),        SCENARIO(errors_return),
#ifdef OPEN_MPI
        SCENARIO(null_pointers),
#endif
        SCENARIO(error_handler), SCENARIO(handler_that_jumps), SCENARIO(errno_is_left_alone),
    };
    int provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    partner = 1 - rank;
    say("thread level %d", provided);
    run_scenarios(scenarios, sizeof scenarios / sizeof scenarios[0], argc > 1 ? argv[1] : NULL);
    return MPI_Finalize();
}

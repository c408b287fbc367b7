// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// 2 ranks. What Wait* and Test* and the requests between post and completion show: null, inactive, persistent, freed,
// cancelled and generalized requests, errors of single requests, statuses that are ignored.
#include "see.h"

enum { many = 4 };
static int partner;

static MPI_Request requests[many];
static MPI_Status statuses[many];
static int flag, place, done, places[many];

// All that a completion call can write to.
static void reset(void)
{
    poison(statuses, many);
    flag = place = done = -77;
    for (int i = 0; i < many; ++i)
        places[i] = -88;
}

static void see_all(const char* what, int code)
{
    see_code(what, code);
    say("%s: flag %d index %d outcount %d", what, flag, place, done);
    see_ints(what, places, many);
    see_requests(what, requests, many);
    see_statuses(what, statuses, many);
    reset();
}

static void complete_in_all_ways(const char* what, int count)
{
    say("-- %s, %d", what, count);
    reset();
    see_all("Wait", MPI_Wait(&requests[0], &statuses[0]));
    see_all("Waitall", MPI_Waitall(count, requests, statuses));
    see_all("Waitany", MPI_Waitany(count, requests, &place, &statuses[0]));
    see_all("Waitsome", MPI_Waitsome(count, requests, &done, places, statuses));
    see_all("Test", MPI_Test(&requests[0], &flag, &statuses[0]));
    see_all("Testall", MPI_Testall(count, requests, &flag, statuses));
    see_all("Testany", MPI_Testany(count, requests, &place, &flag, &statuses[0]));
    see_all("Testsome", MPI_Testsome(count, requests, &done, places, statuses));
    see_all("Request_get_status", MPI_Request_get_status(requests[0], &flag, &statuses[0]));
    see_all("Wait, ignoring", MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    see_all("Waitall, ignoring", MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    see_all("Waitany, ignoring", MPI_Waitany(count, requests, &place, MPI_STATUS_IGNORE));
    see_all("Waitsome, ignoring", MPI_Waitsome(count, requests, &done, places, MPI_STATUSES_IGNORE));
    see_all("Test, ignoring", MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    see_all("Testall, ignoring", MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE));
    see_all("Testany, ignoring", MPI_Testany(count, requests, &place, &flag, MPI_STATUS_IGNORE));
    see_all("Testsome, ignoring", MPI_Testsome(count, requests, &done, places, MPI_STATUSES_IGNORE));
    see_all("Request_get_status, ignoring", MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
}

static void null_requests(void)
{
    for (int i = 0; i < many; ++i)
        requests[i] = MPI_REQUEST_NULL;
    complete_in_all_ways("null", many);
    complete_in_all_ways("none", 0);
    see_all("Waitall of nothing at all", MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    see_all("Testany of nothing at all", MPI_Testany(0, NULL, &place, &flag, &statuses[0]));
}

static int out[many], in[many];

static void inactive_requests(void)
{
    requests[0] = MPI_REQUEST_NULL;
    MPI_Recv_init(&in[0], 1, MPI_INT, partner, 20, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(&out[0], 1, MPI_INT, partner, 20, MPI_COMM_WORLD, &requests[2]);
    MPI_Recv_init(&in[1], 1, MPI_INT, MPI_PROC_NULL, 20, MPI_COMM_WORLD, &requests[3]);
    complete_in_all_ways("inactive", many);
    for (int i = 1; i < many; ++i)
        see_code("Request_free", MPI_Request_free(&requests[i]));
    see_requests("freed", requests, many);
}

static void persistent_requests(void)
{
    reset();
    MPI_Recv_init(&in[0], 1, MPI_INT, partner, 20, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(&out[0], 1, MPI_INT, partner, 20, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(&in[1], 1, MPI_INT, MPI_PROC_NULL, 21, MPI_COMM_WORLD, &requests[2]);
    MPI_Ssend_init(&out[1], 1, MPI_INT, MPI_PROC_NULL, 21, MPI_COMM_WORLD, &requests[3]);
    for (int i = 0; i < 3; ++i) {
        out[0] = 10 * rank + i;
        see_all("Startall", MPI_Startall(many, requests));
        see_all("Waitall",
                i == 1 ? MPI_Waitall(many, requests, MPI_STATUSES_IGNORE) : MPI_Waitall(many, requests, statuses));
        say("received %d", in[0]);
    }
    see_all("Start", MPI_Start(&requests[1]));
    see_all("Wait", MPI_Wait(&requests[1], &statuses[0]));
    see_all("Start", MPI_Start(&requests[0]));
    see_all("Wait", MPI_Wait(&requests[0], &statuses[0]));
    see_all("Start", MPI_Start(&requests[0]));
    see_all("Cancel", MPI_Cancel(&requests[0]));
    see_all("Wait for what was cancelled", MPI_Wait(&requests[0], &statuses[0]));
    for (int i = 0; i < many; ++i)
        see_all("Request_free", MPI_Request_free(&requests[i]));
}

static void send(int tag, int count)
{
    static const int data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    MPI_Send(data, count, MPI_INT, partner, tag, MPI_COMM_WORLD);
}

// One request that receives too much, one that receives enough, one null, one without a partner.
static int guarded[2 * many];
static void post_too_short(void)
{
    memset(guarded, 0x5a, sizeof guarded);
    reset();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(&guarded[0], 1, MPI_INT, partner, 30, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&guarded[4], 2, MPI_INT, partner, 31, MPI_COMM_WORLD, &requests[1]);
    requests[2] = MPI_REQUEST_NULL;
    MPI_Irecv(&guarded[7], 1, MPI_INT, MPI_PROC_NULL, 32, MPI_COMM_WORLD, &requests[3]);
    MPI_Barrier(MPI_COMM_WORLD);
    send(30, 3);
    send(31, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    // Both have arrived when this one has, because nothing overtakes.
    send(33, 0);
    MPI_Recv(NULL, 0, MPI_INT, partner, 33, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void drain_too_short(const char* what)
{
    see_bytes(what, guarded, sizeof guarded);
    for (int i = 0; i < many; ++i)
        while (requests[i] != MPI_REQUEST_NULL)
            if (MPI_Wait(&requests[i], MPI_STATUS_IGNORE) != MPI_SUCCESS)
                say("%s: request %d has failed again", what, i);
}

static void truncation(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int ignoring = 0; ignoring < 2; ++ignoring) {
        MPI_Status* const one = ignoring ? MPI_STATUS_IGNORE : &statuses[0];
        MPI_Status* const all = ignoring ? MPI_STATUSES_IGNORE : statuses;
        say("-- %s", ignoring ? "ignoring" : "with statuses");
        memset(guarded, 0x5a, sizeof guarded);
        reset();
        send(34, 3);
        see_all("Recv", MPI_Recv(guarded, 1, MPI_INT, partner, 34, MPI_COMM_WORLD, one));
        see_bytes("Recv", guarded, 16);
        see_all("Sendrecv",
                MPI_Sendrecv(out, 3, MPI_INT, partner, 35, guarded, 1, MPI_INT, partner, 35, MPI_COMM_WORLD, one));
        post_too_short();
        see_all("Wait", MPI_Wait(&requests[0], one));
        drain_too_short("Wait");
        post_too_short();
        see_all("Waitall", MPI_Waitall(many, requests, all));
        drain_too_short("Waitall");
        post_too_short();
        see_all("Waitany", MPI_Waitany(1, requests, &place, one));
        drain_too_short("Waitany");
        post_too_short();
        see_all("Waitsome", MPI_Waitsome(many, requests, &done, places, all));
        drain_too_short("Waitsome");
        post_too_short();
        see_all("Test", MPI_Test(&requests[0], &flag, one));
        drain_too_short("Test");
        post_too_short();
        see_all("Testall", MPI_Testall(many, requests, &flag, all));
        drain_too_short("Testall");
        post_too_short();
        see_all("Testany", MPI_Testany(1, requests, &place, &flag, one));
        drain_too_short("Testany");
        post_too_short();
        see_all("Testsome", MPI_Testsome(many, requests, &done, places, all));
        drain_too_short("Testsome");
    }
}

static void cancelled(void)
{
    reset();
    for (int i = 0; i < many; ++i)
        requests[i] = MPI_REQUEST_NULL;
    MPI_Irecv(in, 1, MPI_INT, partner, 40, MPI_COMM_WORLD, &requests[0]);
    see_all("Cancel", MPI_Cancel(&requests[0]));
    see_all("Wait", MPI_Wait(&requests[0], &statuses[0]));
    MPI_Irecv(in, 1, MPI_INT, partner, 40, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 41, MPI_COMM_WORLD, &requests[1]);
    MPI_Cancel(&requests[0]);
    MPI_Cancel(&requests[1]);
    see_all("Waitall", MPI_Waitall(many, requests, statuses));
    MPI_Irecv(in, 1, MPI_INT, partner, 40, MPI_COMM_WORLD, &requests[2]);
    MPI_Cancel(&requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    // Too late: the message is here.
    MPI_Irecv(in, 1, MPI_INT, partner, 42, MPI_COMM_WORLD, &requests[3]);
    send(42, 1);
    do
        MPI_Request_get_status(requests[3], &flag, &statuses[0]);
    while (!flag);
    see_all("Request_get_status", MPI_SUCCESS);
    see_all("Cancel, too late", MPI_Cancel(&requests[3]));
    see_all("Wait", MPI_Wait(&requests[3], &statuses[3]));
}

static void freed_while_active(void)
{
    reset();
    in[0] = in[1] = -1;
    out[0] = 50 + rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(&in[0], 1, MPI_INT, partner, 50, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, partner, 51, MPI_COMM_WORLD, &requests[1]);
    see_all("Request_free of a receive", MPI_Request_free(&requests[0]));
    MPI_Isend(&out[0], 1, MPI_INT, partner, 50, MPI_COMM_WORLD, &requests[2]);
    see_all("Request_free of a send", MPI_Request_free(&requests[2]));
    MPI_Isend(&out[0], 1, MPI_INT, partner, 51, MPI_COMM_WORLD, &requests[2]);
    see_all("Waitall of the others", MPI_Waitall(many, requests, statuses));
    MPI_Barrier(MPI_COMM_WORLD);
    see_ints("received", in, 2);
}

// Callbacks of a generalized request say when they are called.
static int query(void* state, MPI_Status* status)
{
    say("query %s", (char*)state);
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 6;
    return strcmp(state, "bad") == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int forget(void* state)
{
    int length;
    char words[MPI_MAX_PROCESSOR_NAME];
    MPI_Get_processor_name(words, &length);  // MPI may be called here
    say("free %s", (char*)state);
    return MPI_SUCCESS;
}

static int cancel(void* state, int complete)
{
    say("cancel %s, complete %d", (char*)state, complete);
    return MPI_SUCCESS;
}

static void generalized(void)
{
    static char names[many][8] = {"first", "second", "bad", "third"};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    reset();
    for (int i = 0; i < many; ++i)
        see_code("Grequest_start", MPI_Grequest_start(query, forget, cancel, names[i], &requests[i]));
    see_all("Test before", MPI_Test(&requests[0], &flag, &statuses[0]));
    see_all("Cancel", MPI_Cancel(&requests[1]));
    for (int i = 0; i < many; ++i)
        see_code("Grequest_complete", MPI_Grequest_complete(requests[i]));
    see_all("Request_get_status", MPI_Request_get_status(requests[0], &flag, &statuses[0]));
    see_all("Wait", MPI_Wait(&requests[0], &statuses[0]));
    see_all("Wait, ignoring", MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    see_all("Waitall", MPI_Waitall(1, &requests[3], statuses));
    see_all("Request_free", MPI_Request_free(&requests[2]));
    MPI_Grequest_start(query, forget, cancel, names[0], &requests[0]);
    MPI_Irecv(in, 1, MPI_INT, partner, 60, MPI_COMM_WORLD, &requests[1]);
    MPI_Grequest_complete(requests[0]);
    send(60, 1);
    see_all("Waitall, mixed", MPI_Waitall(2, requests, statuses));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

// Copies of the handle, and arrays that the application moves between post and completion.
static void copied_handles(void)
{
    MPI_Request elsewhere[many];
    reset();
    for (int i = 0; i < many; ++i)
        MPI_Irecv(&in[i], 1, MPI_INT, partner, 70 + i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < many; ++i) {
        elsewhere[many - 1 - i] = requests[i];
        send(70 + i, 1);
    }
    see_code("Waitall", MPI_Waitall(many, elsewhere, statuses));
    see_requests("original", requests, many);
    see_requests("copied", elsewhere, many);
    see_statuses("copied", statuses, many);
    for (int i = 0; i < many; ++i)
        requests[i] = MPI_REQUEST_NULL;
}

int main(int argc, char** argv)
{
    static const struct Scenario scenarios[] = {
        SCENARIO(null_requests), SCENARIO(inactive_requests),  SCENARIO(persistent_requests), SCENARIO(truncation),
        SCENARIO(cancelled),     SCENARIO(freed_while_active), SCENARIO(generalized),         SCENARIO(copied_handles)};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    partner = 1 - rank;
    run_scenarios(scenarios, sizeof scenarios / sizeof scenarios[0], argc > 1 ? argv[1] : NULL);
    return MPI_Finalize();
}

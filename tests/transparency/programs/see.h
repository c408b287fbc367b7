// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the programs here print what an application can see: every field of a status, codes with class and words,
// handles as null or not, bytes. A scenario is a name and a function; its lines stand below a line "== name".
#pragma once

#include <mpi.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

__attribute__((format(printf, 1, 2), unused)) static void say(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

/// Fields that no MPI library would write, so that those that it leaves alone are seen.
__attribute__((unused)) static MPI_Status poisoned(void)
{
    MPI_Status status;
    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = -1111;
    status.MPI_TAG = -2222;
    status.MPI_ERROR = -3333;
    return status;
}

__attribute__((unused)) static void poison(MPI_Status* statuses, int count)
{
    for (int i = 0; i < count; ++i)
        statuses[i] = poisoned();
}

__attribute__((unused)) static void see_status(const char* what, const MPI_Status* status)
{
    int bytes, elements, cancelled;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    MPI_Get_elements(status, MPI_INT, &elements);
    MPI_Test_cancelled(status, &cancelled);
    say("%s: source %d tag %d error %d bytes %d ints %d cancelled %d", what, status->MPI_SOURCE, status->MPI_TAG,
        status->MPI_ERROR, bytes, elements, cancelled);
}

__attribute__((unused)) static void see_statuses(const char* what, const MPI_Status* statuses, int count)
{
    for (int i = 0; i < count; ++i) {
        char name[64];
        snprintf(name, sizeof name, "%s status %d", what, i);
        see_status(name, &statuses[i]);
    }
}

/// MPICH counts its codes, and their words name addresses: also that of a status, be it the application's or ours.
/// There the class.
__attribute__((unused)) static int steady_code(int code)
{
#ifdef MPICH
    MPI_Error_class(code, &code);
#endif
    return code;
}

__attribute__((unused)) static void see_code(const char* what, int code)
{
    char words[MPI_MAX_ERROR_STRING] = "";
    int length, class = -1;
    if (code == MPI_SUCCESS) {
        say("%s: success", what);
        return;
    }
    code = steady_code(code);
    MPI_Error_class(code, &class);
    MPI_Error_string(code, words, &length);
    say("%s: code %d class %d %s", what, code, class, words);
}

__attribute__((unused)) static void see_requests(const char* what, const MPI_Request* requests, int count)
{
    printf("%s requests:", what);
    for (int i = 0; i < count; ++i)
        printf(" %s", requests[i] == MPI_REQUEST_NULL ? "null" : "set");
    putchar('\n');
}

__attribute__((unused)) static void see_ints(const char* what, const int* values, int count)
{
    printf("%s:", what);
    for (int i = 0; i < count; ++i)
        printf(" %d", values[i]);
    putchar('\n');
}

__attribute__((unused)) static void see_bytes(const char* what, const void* data, size_t bytes)
{
    printf("%s:", what);
    for (size_t i = 0; i < bytes; ++i)
        printf(" %02x", ((const unsigned char*)data)[i]);
    putchar('\n');
}

struct Scenario {
    const char* name;
    void (*run)(void);
};

/// Runs all, or the one that is named, with a barrier behind each.
__attribute__((unused)) static void run_scenarios(const struct Scenario* scenarios, size_t count, const char* only)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < count; ++i) {
        if (only != NULL && strcmp(only, scenarios[i].name) != 0)
            continue;
        printf("== %s\n", scenarios[i].name);
        scenarios[i].run();
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        fflush(stdout);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("== end\n");
}
#define SCENARIO(function)                                                                                             \
    {                                                                                                                  \
#function, function                                                                                            \
    }

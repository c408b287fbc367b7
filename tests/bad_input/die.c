/* SPDX-FileCopyrightText: the critpath authors
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Preloaded into cpreplay, ends one of its processes: DIE_RANK with the signal DIE_SIGNAL while it reads definitions
 * (DIE_IN=read), or while the others wait for it to write the result (DIE_IN=write). DIE_RANK may be "all". With
 * DIE_BY, another process sends the signal. */
#define _GNU_SOURCE
#include <mpi.h>
#include <otf2/otf2.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die_in(const char* place)
{
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* ranks = getenv("DIE_RANK");
    if (strcmp(getenv("DIE_IN"), place) != 0 || (strcmp(ranks, "all") != 0 && atoi(ranks) != rank)) {
        return;
    }
    const int number = atoi(getenv("DIE_SIGNAL"));
    if (getenv("DIE_BY") == NULL) {
        raise(number);
        return;
    }
    // Not while this process is still in fork(), which holds the locks of malloc: what Open MPI says of the signal
    // would wait for them.
    int is_back[2];
    char byte = 0;
    if (pipe(is_back) != 0) {
        abort();
    }
    if (fork() == 0) {
        const ssize_t got = read(is_back[0], &byte, 1);
        kill(getppid(), number);
        _exit(got == 1 ? 0 : 1);
    }
    if (write(is_back[1], &byte, 1) == 1) {
        pause();
    }
}

OTF2_ErrorCode OTF2_Reader_ReadAllGlobalDefinitions(OTF2_Reader* reader, OTF2_GlobalDefReader* definitions,
                                                    uint64_t* read)
{
    typedef OTF2_ErrorCode (*Function)(OTF2_Reader*, OTF2_GlobalDefReader*, uint64_t*);
    union {
        void* symbol;
        Function call;
    } next = {dlsym(RTLD_NEXT, "OTF2_Reader_ReadAllGlobalDefinitions")};
    die_in("read");
    return next.call(reader, definitions, read);
}

int open(const char* path, int flags, ...)
{
    typedef int (*Function)(const char*, int, ...);
    union {
        void* symbol;
        Function call;
    } next = {dlsym(RTLD_NEXT, "open")};
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (strstr(path, "/segments.bin.part") != NULL) {
        die_in("write");
    }
    return next.call(path, flags, mode);
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the C interface between the preload library, which must not depend on a C++ runtime, and the archive
// library, which it loads with dlopen in MPI_Finalize.
#pragma once

#include <mpi.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct critpath_archive_request {
    const char* trace;  // directory of the trace; exists
    const char* spool;  // directory of the spool files
    int rank;           // of this process in MPI_COMM_WORLD
    int threads;        // that it has had; not all have files
};

/// Sums over all ranks, the same on all of them.
struct critpath_archive_summary {
    uint64_t calls;
    uint64_t samples;
    uint64_t events;  // OTF2 event records
    uint64_t bytes;   // of the event files
    uint64_t lost_records;
    uint64_t lost_samples;
    uint64_t cut_samples;    // with callers that are not known, although they were asked for
    uint64_t sampled_ns;     // time of the sampled threads,
    uint64_t respite_ns;     // and of it without samples, because they switched too often outside of waits
    char error[512];         // one line: object, cause, next action; empty if all went well
    char inconsistent[512];  // on rank 0: about which communicators the ranks disagree; empty if about none
};

/// Turns the spool files of this process into its part of the OTF2 archive and writes the definitions. Collective
/// over `comm`, a communicator of all ranks of MPI_COMM_WORLD that belongs to the caller and returns errors. Uses
/// PMPI only. Never throws, aborts or exits. Returns 0 if the archive is complete, the same value on all ranks;
/// otherwise the spool files are untouched and `error` says why.
int critpath_archive_write(const struct critpath_archive_request* request, MPI_Comm comm,
                           struct critpath_archive_summary* summary);

/// Name under which dlsym finds it.
#define CRITPATH_ARCHIVE_SYMBOL "critpath_archive_write"

#ifdef __cplusplus
}
#endif

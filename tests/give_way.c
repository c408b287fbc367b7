// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns that the ranks of a test under MPICH give way while they wait. Debian's MPICH (over UCX) never does: with more
// ranks than processors, each wait would take time slices of the others. Linked in front of MPI; where MPICH does not
// use UCX, nobody calls this.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

unsigned ucp_worker_progress(void* worker)
{
    static unsigned (*real)(void*) = NULL;
    if (real == NULL) {
        real = (unsigned (*)(void*))dlsym(RTLD_NEXT, "ucp_worker_progress");
    }
    const unsigned events = real(worker);
    if (events == 0) {
        sched_yield();
    }
    return events;
}

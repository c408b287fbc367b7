// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the interposition of pthread_create and thrd_create: the application's threads get a number and are sampled from
// their first moment on. Those of MPI and of the sampler (depth > 0) are left alone.
#include "collector/mpi/jump.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/thread.hpp"
#include "collector/sampling/sampling.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>

namespace critpath::preload
{

namespace
{

using PosixRoutine = void* (*)(void*);
using PosixCreate = int (*)(pthread_t*, const pthread_attr_t*, PosixRoutine, void*);
using C11Create = int (*)(thrd_t*, thrd_start_t, void*);

std::atomic<PosixCreate> posix_create = nullptr;
std::atomic<C11Create> c11_create = nullptr;

template <class Function>
Function find(std::atomic<Function>& known, const char* name)
{
    Function function = known.load(std::memory_order_relaxed);
    if (function == nullptr) {
        function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
        known.store(function, std::memory_order_relaxed);
    }
    return function;
}

template <class Routine>
struct ThreadStart {
    Routine routine;
    void* argument;
};

template <class Routine>
auto run_thread(void* data)
{
    const ThreadStart<Routine> start = *static_cast<ThreadStart<Routine>*>(data);
    {
        const OwnWork guard;
        std::free(data);
    }
    begin_thread();
    return start.routine(start.argument);
}

// The application's own thread: from now on it is worth a helper for the samples of all.
bool is_followed(const Caller& caller)
{
    const bool is_inside = local.depth > 0 && !outermost_is_gone(caller);
    if (is_inside || process.phase == Phase::Abandoned || !(process.sampling || process.is_mpi)) {
        return false;
    }
    if (process.sampling) {
        const OwnWork guard;
        sampling::start_helper();
    }
    return true;
}

// `create` makes a thread of a routine and its argument; returns 0 if it could.
template <class Routine, class Create>
int create_followed(Routine routine, void* argument, Create&& create)
{
    auto* start = static_cast<ThreadStart<Routine>*>(std::malloc(sizeof(ThreadStart<Routine>)));
    if (start == nullptr) {
        return create(routine, argument);
    }
    *start = {routine, argument};
    const int error = create(run_thread<Routine>, start);
    if (error != 0) {
        std::free(start);
    }
    return error;
}

}  // namespace

void find_thread_functions()
{
    find(posix_create, "pthread_create");
    find(c11_create, "thrd_create");
}

}  // namespace critpath::preload

using namespace critpath::preload;  // NOLINT(google-build-using-namespace)

extern "C" __attribute__((visibility("default"))) int
pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument)
{
    const PosixCreate next = find(posix_create, "pthread_create");
    if (next == nullptr) {
        return EAGAIN;
    }
    const auto create = [&](PosixRoutine begin, void* data) { return next(thread, attributes, begin, data); };
    return is_followed(CRITPATH_CALLER) ? create_followed(routine, argument, create) : create(routine, argument);
}

// That of the C library calls its own pthread_create, past ours.
extern "C" __attribute__((visibility("default"))) int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument)
{
    static_assert(thrd_success == 0);
    const C11Create next = find(c11_create, "thrd_create");
    if (next == nullptr) {
        return thrd_error;
    }
    const auto create = [&](thrd_start_t begin, void* data) { return next(thread, begin, data); };
    return is_followed(CRITPATH_CALLER) ? create_followed(routine, argument, create) : create(routine, argument);
}

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/thread.hpp"

#include "collector/mpi/clock.hpp"
#include "collector/mpi/control.hpp"
#include "collector/mpi/files.hpp"
#include "collector/mpi/process.hpp"
#include "collector/sampling/sampling.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

namespace critpath::preload
{

__thread Local local __attribute__((tls_model("initial-exec"), visibility("hidden")));

namespace
{

using CreateFunction = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

std::atomic<CreateFunction> real_create = nullptr;
std::atomic<int> threads_numbered = 0;
std::atomic<Thread*> all_threads = nullptr;
constinit Thread main_thread;
pthread_key_t exit_key;
bool exit_key_made = false;

void number_thread()
{
    if (local.number_plus_one == 0) {
        local.number_plus_one = threads_numbered.fetch_add(1) + 1;
    }
}

void enlist(Thread* thread)
{
    thread->next = all_threads.load();
    while (!all_threads.compare_exchange_weak(thread->next, thread)) {
    }
}

int open_spool(Thread& thread)
{
    spool::SpoolHeader header = process.header;
    header.thread = thread.number;
    header.tid = gettid();
    header.thread_start = thread.number == 0 ? process.start : now();
    Text path;
    path << process.spool << "/" << process.rank << "." << thread.number << ".calls";
    SpoolWriter::Limits limits;
    limits.file_bytes = process.settings.buffer_mb << 20;
    const int error = thread.spool.open(path.c_str(), header, limits);
    if (error == 0) {
        enlist(&thread);
        thread.paths.start(process.settings.callpath);
        thread.counters.start();
    }
    return error;
}

void finish(Thread& thread, bool unmap)
{
    if (!thread.finished.exchange(true)) {
        thread.spool.close(now(), unmap);
    }
}

// Destructors of other keys may call MPI, so ours puts itself behind them for as long as it is allowed to.
__thread int exit_rounds __attribute__((tls_model("initial-exec")));

void at_thread_exit(void* value)
{
    if (++exit_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(exit_key, value);
        return;
    }
    if (process.phase == Phase::Abandoned) {
        return;
    }
    const OwnWork guard;
    if (process.sampling) {
        sampling::stop_thread();
    }
    if (local.thread != nullptr) {
        control.catch_up(*local.thread, true);
        local.thread->counters.stop();
        finish(*local.thread, true);
        local.thread->handles.release();
        local.thread->statuses.release();
        local.thread->completions.release();
        local.thread->paths.release();
        local.thread = nullptr;
    }
}

void watch_exit()
{
    if (exit_key_made) {
        pthread_setspecific(exit_key, &exit_rounds);
    }
}

struct Start {
    void* (*routine)(void*);
    void* argument;
};

void* run_thread(void* data)
{
    const Start start = *static_cast<Start*>(data);
    {
        const OwnWork guard;
        std::free(data);
        number_thread();
        watch_exit();
        if (process.sampling && process.phase != Phase::Abandoned) {
            sampling::start_thread(local.number_plus_one - 1);
        }
    }
    return start.routine(start.argument);
}

CreateFunction find_create()
{
    CreateFunction create = real_create.load(std::memory_order_relaxed);
    if (create == nullptr) {
        create = reinterpret_cast<CreateFunction>(dlsym(RTLD_NEXT, "pthread_create"));
        real_create.store(create, std::memory_order_relaxed);
    }
    return create;
}

}  // namespace

bool Scratch::grow(std::size_t bytes)
{
    release();
    constexpr std::size_t smallest = 16384;
    std::size_t rounded = smallest;
    while (rounded < bytes) {
        rounded *= 2;
    }
    memory_ = map_memory(rounded);
    bytes_ = memory_ == nullptr ? 0 : rounded;
    return memory_ != nullptr;
}

void Scratch::release()
{
    if (memory_ != nullptr) {
        munmap(memory_, bytes_);
    }
    memory_ = nullptr;
    bytes_ = 0;
}

Thread* attach_thread()
{
    number_thread();
    if (local.number_plus_one == 1) {
        local.thread = main_thread.spool.is_open() ? &main_thread : nullptr;
        return local.thread;
    }
    void* memory = map_memory(sizeof(Thread));
    if (memory == nullptr) {
        return nullptr;
    }
    const int saved_errno = errno;
    auto* thread = new (memory) Thread;
    thread->number = local.number_plus_one - 1;
    const int error = open_spool(*thread);
    if (error != 0) {
        say(Text() << "cpcollect: rank " << process.rank << ": thread " << thread->number << ": " << error_text(error)
                   << ", its calls are not recorded; allow more open files, or give more room");
    }
    local.thread = thread;
    watch_exit();
    errno = saved_errno;
    return thread;
}

int open_main_thread()
{
    return open_spool(main_thread);
}

int numbered_threads()
{
    return threads_numbered.load();
}

std::uint64_t incomplete_paths()
{
    std::uint64_t sum = 0;
    for (const Thread* thread = all_threads.load(); thread != nullptr; thread = thread->next) {
        sum += thread->paths.incomplete();
    }
    return sum;
}

void close_threads()
{
    if (local.thread != nullptr && !local.thread->finished) {
        control.catch_up(*local.thread, true);
        local.thread->counters.stop();
    }
    for (Thread* thread = all_threads.load(); thread != nullptr; thread = thread->next) {
        finish(*thread, thread == local.thread);
    }
    local.thread = nullptr;
}

void abandon_threads()
{
    for (Thread* thread = all_threads.load(); thread != nullptr; thread = thread->next) {
        thread->spool.abandon();
    }
    all_threads = nullptr;
    local.thread = nullptr;
}

void start_threads()
{
    find_create();
    number_thread();
    exit_key_made = pthread_key_create(&exit_key, at_thread_exit) == 0;
}

}  // namespace critpath::preload

using namespace critpath::preload;  // NOLINT(google-build-using-namespace)

// The application's threads get a number and are sampled; those of MPI and of the sampler (depth > 0) are left alone.
extern "C" __attribute__((visibility("default"))) int
pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument)
{
    const CreateFunction create = find_create();
    if (create == nullptr) {
        return EAGAIN;
    }
    if (local.depth > 0 || process.phase == Phase::Abandoned || !(process.sampling || process.is_mpi)) {
        return create(thread, attributes, routine, argument);
    }
    auto* start = static_cast<Start*>(std::malloc(sizeof(Start)));
    if (start == nullptr) {
        return create(thread, attributes, routine, argument);
    }
    *start = {routine, argument};
    const int error = create(thread, attributes, run_thread, start);
    if (error != 0) {
        std::free(start);
    }
    return error;
}

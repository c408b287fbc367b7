// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/thread.hpp"

#include "collector/mpi/clock.hpp"
#include "collector/mpi/control.hpp"
#include "collector/mpi/files.hpp"
#include "collector/mpi/jump.hpp"
#include "collector/mpi/process.hpp"
#include "collector/sampling/sampling.hpp"

#include <atomic>
#include <cerrno>
#include <new>

#include <pthread.h>
#include <unistd.h>

namespace critpath::preload
{

__thread Local local __attribute__((tls_model("initial-exec"), visibility("hidden")));

namespace
{

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

// Where there are so many threads, most live shortly: they are not to cost much.
std::size_t stage_bytes(int thread)
{
    constexpr int few_threads = 64;
    constexpr std::size_t small = SpoolWriter::small_stage;
    const std::size_t wish = process.settings.buffer_kb << 10;
    return thread < few_threads || wish < small ? wish : small;
}

int open_spool(Thread& thread)
{
    const std::uint64_t start = thread.number == 0 ? process.start : now();
    Text path;
    path << process.spool << "/" << process.rank << "." << thread.number << ".calls";
    const int error = thread.spool.open(path.path(), process.header, stage_bytes(thread.number));
    if (error == 0) {
        thread.spool.name_thread(thread.number, gettid(), start);
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
    if (local.depth > 0) {  // pthread_exit() is a way out, too
        end_left_call();
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

namespace
{

void find_stack()
{
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return;
    }
    void* begin = nullptr;
    std::size_t size = 0;
    if (pthread_attr_getstack(&attributes, &begin, &size) == 0) {
        local.stack_begin = reinterpret_cast<std::uintptr_t>(begin);
        local.stack_end = local.stack_begin + size;
    }
    pthread_attr_destroy(&attributes);
}

}  // namespace

Thread* attach_thread()
{
    number_thread();
    if (local.stack_end == 0) {
        find_stack();
    }
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
                   << ", its calls are not recorded; " << remedy(error));
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

int why_records_were_lost()
{
    for (const Thread* thread = all_threads.load(); thread != nullptr; thread = thread->next) {
        if (const int why = thread->spool.why_lost(); why != 0) {
            return why;
        }
    }
    return 0;
}

void close_threads(bool in_finalize)
{
    if (local.thread != nullptr && !local.thread->finished) {
        local.thread->counters.stop();
    }
    for (Thread* thread = all_threads.load(); thread != nullptr; thread = thread->next) {
        if (!thread->finished && (in_finalize || thread == local.thread)) {
            control.catch_up(*thread, true);
        }
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

void begin_thread()
{
    const OwnWork guard;
    number_thread();
    watch_exit();
    if (process.sampling && process.phase != Phase::Abandoned) {
        sampling::start_thread(local.number_plus_one - 1);
    }
}

void start_threads()
{
    find_thread_functions();
    number_thread();
    exit_key_made = pthread_key_create(&exit_key, at_thread_exit) == 0;
}

}  // namespace critpath::preload

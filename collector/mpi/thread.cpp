// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/thread.hpp"

#include "collector/mpi/clock.hpp"
#include "collector/mpi/control.hpp"
#include "collector/mpi/files.hpp"
#include "collector/mpi/jump.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/unloads.hpp"
#include "collector/sampling/file_list.hpp"
#include "collector/sampling/quiet.hpp"
#include "collector/sampling/sampling.hpp"

#include <atomic>
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

// On any thread.
int open_spool(Thread& thread)
{
    const bool is_main = thread.number == 0;
    Text path;
    path << process.spool << "/" << process.rank << "." << thread.number << ".calls";
    const int error = thread.spool.open(path.path(), process.header, stage_bytes(thread.number));
    if (error == 0) {
        thread.spool.name_thread(thread.number, is_main ? process.pid : gettid(), is_main ? process.start : now());
        enlist(&thread);
        sampling::list_file(process.spool, process.rank, thread.number, "calls");
    }
    return error;
}

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

// On the thread itself, after open_spool.
void begin_on_own_thread(Thread& thread)
{
    thread.paths.start(process.settings.callpath, local.stack_begin, local.stack_end);
    thread.counters.start();
    local.thread = &thread;
}

// Once, since the next thread will hardly fare better.
void say_not_recorded(const Thread& thread, int error)
{
    static std::atomic<bool> said = false;
    if (!said.exchange(true)) {
        say(Text() << "cpcollect: rank " << process.rank << ": thread " << thread.number << ", and maybe others: "
                   << error_text(error) << ", their calls are not recorded; " << remedy(error));
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
    int cancel_state;  // a thread that is cancelled now has still ended by itself
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (process.sampling) {
        sampling::stop_thread();
    }
    if (local.thread != nullptr) {
        Thread& thread = *local.thread;
        thread.counters.stop();
        if (!thread.finished.exchange(true)) {
            control.catch_up(thread, true);
            thread.spool.close(now(), true);
        }
        thread.handles.release();
        thread.statuses.release();
        thread.completions.release();
        thread.paths.release();
        local.thread = nullptr;
    }
    pthread_setcancelstate(cancel_state, nullptr);
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

void append_span(Thread& thread, spool::RecordKind kind, std::uint64_t begin, std::uint64_t end,
                 functions::FunctionId function, std::uint8_t flags)
{
    spool::Record span{};
    span.kind = kind;
    span.function = static_cast<std::uint16_t>(function);
    span.flags = flags;
    span.comm = span.peer = span.tag = -1;
    span.enter = begin;
    span.leave = end;
    thread.spool.append(span);
    thread.last_leave = end;
}

Thread* attach_thread()
{
    const sampling::Quiet quiet;  // a thread is to be attached wholly, or not at all
    number_thread();
    if (local.stack_end == 0) {
        find_stack();
    }
    if (local.number_plus_one == 1) {
        if (main_thread.spool.is_open()) {
            begin_on_own_thread(main_thread);
        }
        return local.thread;
    }
    void* memory = map_memory(sizeof(Thread));
    if (memory == nullptr) {
        return nullptr;
    }
    auto* thread = new (memory) Thread;
    thread->number = local.number_plus_one - 1;
    if (const int error = open_spool(*thread); error == 0) {
        begin_on_own_thread(*thread);
    } else {
        say_not_recorded(*thread, error);
        local.thread = thread;
    }
    watch_exit();
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
    if (local.thread != nullptr) {
        local.thread->counters.stop();
    }
    for (Thread* thread = all_threads.load(); thread != nullptr; thread = thread->next) {
        if (thread->finished.exchange(true)) {
            continue;  // by itself, at its end
        }
        if (in_finalize || thread == local.thread) {
            control.catch_up(*thread, true);
        }
        thread->spool.close(now(), thread == local.thread);
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
    find_yield();
    find_unload();
    find_alternate_stack();
    number_thread();
    exit_key_made = pthread_key_create(&exit_key, at_thread_exit) == 0;
}

}  // namespace critpath::preload

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the threads of the process as the recorder sees them: the guard against recording ourselves, the number of each
// thread, its spool file and its scratch memory.
#pragma once

#include "collector/mpi/callpath.hpp"
#include "collector/mpi/counters.hpp"
#include "collector/mpi/handle_table.hpp"
#include "collector/mpi/polls.hpp"
#include "collector/mpi/process.hpp"
#include "collector/mpi/spool_writer.hpp"
#include "formats/functions/functions.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace critpath::preload
{

/// Memory that grows by mapping and is used again by the next call.
class Scratch
{
public:
    /// Room for `count` items, undefined content; nullptr if there is no memory. Ends the life of what was there.
    template <class Item>
    Item* room(std::size_t count)
    {
        const std::size_t bytes = count * sizeof(Item);  // NOLINT(bugprone-sizeof-expression): handles may be pointers
        if (bytes > bytes_ && !grow(bytes)) {
            return nullptr;
        }
        return static_cast<Item*>(memory_);
    }
    void release();

private:
    bool grow(std::size_t bytes);

    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
};

/// A thread that records.
struct Thread {
    std::uint32_t switches = 0;       // Control::switches as of the last call,
    std::uint32_t stretches = 0;      // and how many stretches that were off have their Off record
    std::uint64_t off_since = 0;      // what it saw last of these: its begin, after what the thread had recorded
    std::uint64_t last_leave = 0;     // of a recorded call, or the end of a Tool or Off record
    std::uint64_t dropped_leave = 0;  // of a call that was not recorded
    CallPaths paths;
    Counters counters;
    SpoolWriter spool;
    Scratch handles;      // of requests, as they were before a completion call
    Scratch statuses;     // where the application ignores them
    Scratch completions;  // of one call
    Polls polls;
    int number = 0;
    std::atomic<bool> finished = false;
    Thread* next = nullptr;  // in the list of all
};

/// Depth counts wrappers and library code on the stack of the calling thread: MPI calls inside are not the
/// application's.
struct Local {
    int depth;
    int number_plus_one;   // 0: not numbered yet
    Thread* thread;        // nullptr: has not recorded yet
    std::uintptr_t frame;  // of the outermost wrapper: stack pointer before the call (jump.hpp); 0: work of ours,
    std::uintptr_t site;   // and return address
    std::uint64_t callbacks_since;          // and enter, if the application's attribute callbacks run within it; else 0
    std::uintptr_t stack_begin, stack_end;  // of the thread; 0 before it records
};
extern __thread Local local __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// Everything that the library does outside of wrappers happens under this guard.
class OwnWork
{
public:
    OwnWork() : depth_(local.depth)
    {
        if (local.depth++ == 0) {
            local.frame = 0;
        }
    }
    ~OwnWork() { local.depth = depth_; }
    OwnWork(const OwnWork&) = delete;
    OwnWork& operator=(const OwnWork&) = delete;

private:
    int depth_;
};

/// Appends a record that says only what [begin, end] was, the last that is known of `thread` so far.
void append_span(Thread& thread, spool::RecordKind kind, std::uint64_t begin, std::uint64_t end,
                 functions::FunctionId function = functions::FunctionId::none, std::uint8_t flags = 0);

/// The calling thread begins to record; nullptr if it cannot. Opens its spool.
Thread* attach_thread();

/// The main thread is number 0; its spool exists even if another thread calls MPI_Init. Returns an errno or 0.
int open_main_thread();

/// Number of threads that have been numbered so far.
int numbered_threads();

/// Calls of all threads whose call path was cut for want of memory or time. After close_threads.
std::uint64_t incomplete_paths();

/// Of records of any thread, as an errno; 0 if none were lost. After close_threads.
int why_records_were_lost();

/// Closes the spools of all threads. Other threads may still be running; what they append from now on is not kept. Only
/// in MPI_Finalize none of them may be in MPI, and their Off records are completed, too.
void close_threads(bool in_finalize);

/// In the child of fork().
void abandon_threads();

/// At load time, in the main thread: numbers it and prepares the interposition of pthread_create and thrd_create.
void start_threads();

/// On a new thread of the application, before its own code.
void begin_thread();

/// Finds the functions behind those that make threads (thread_start.cpp), and behind sched_yield (yield.cpp).
void find_thread_functions();
void find_yield();

/// Likewise the sigaltstack of the application.
void find_alternate_stack();

}  // namespace critpath::preload

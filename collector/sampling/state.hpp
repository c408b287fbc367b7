// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the parts of the sampling of one process share: a slot a thread, and how a slot goes from one owner to the
// next. Threads of the application only claim a slot, open their event and mark the slot; everything that takes time
// (draining, files) is done by the helper thread. A slot goes Free -> Claimed -> Active -> Ending -> (Kept ->) Free, or
// Spent; whoever holds the pass lock moves it onwards from Active, except that a thread marks its own end.
#pragma once

#include "collector/sampling/deep_stack.hpp"
#include "collector/sampling/perf_event.hpp"
#include "collector/sampling/respite.hpp"
#include "collector/sampling/run_delay.hpp"
#include "collector/sampling/sample_file.hpp"
#include "collector/sampling/sampling.hpp"

#include <atomic>
#include <cstdint>

#include <poll.h>
#include <pthread.h>
#include <sys/types.h>
#include <time.h>

namespace critpath::sampling
{

inline constexpr std::uint32_t max_threads = 4096;  // at the same time

enum class SlotState : std::uint32_t {
    Free,
    Claimed,  // its thread is setting it up
    Active,
    Ending,  // its thread stopped; to be drained
    Kept,    // drained; its samples wait in memory for their file
    Spent,   // closed, and not to be used again
};

struct Slot {
    std::atomic<SlotState> state;
    int thread;
    std::int64_t tid;
    std::uint64_t start;
    std::atomic<std::uint64_t> end;  // 0: it goes on
    Watch watch;
    // Of its respites, under the pass lock (respite.hpp):
    Account account;
    std::uint64_t charged;     // until when
    std::uint64_t switches;    // since then
    bool own_rest;             // that it began itself,
    std::uint64_t rest_begin;  // and when
    std::uint64_t rest_end;    // of one that the helper began, to be written; 0: nothing
    std::uint64_t rested;      // ns of its own, to be written
    std::uint32_t asked;       // Watch::asked when the helper looked,
    std::uint64_t looked;      // which was then
    bool spent;                // its thread lives on without it: nobody may have it after that
    int why_not;
    bool ready;  // poll said so; only used by the helper
    bool file_tried;
    PerfEvent event;
    std::uint64_t counted_events;  // as SampleFormat
    SampleFile file;
    Count count;
    std::uint64_t period;                // as SampleFormat::own_period
    std::uint64_t first_period;          // likewise
    bool timer_stopped;                  // before its thread ended
    char name[spool::thread_name_size];  // of the thread, once it has ended; empty: not known
    std::uint64_t looked_at;             // as Out::head, when the helper looked where it was blocked
    Descriptor system_call;              // that the thread is in, for that (proc(5), /proc/pid/syscall)
    RunDelay run_delay;
    DeepStack deep;
};

/// Whose event the helper waits for.
struct PolledSlot {
    std::uint32_t number;
    std::uint64_t event;  // PerfEvent::id
};

/// As blocked.cpp writes it, which has no such stack.
struct BlockedCopy {
    spool::BlockedRecord record;
    std::uint64_t copied;
    char stack[spool::StackImage::largest_copy + sizeof(std::uint64_t)];
};

enum class Stage : std::uint32_t { Running, Finishing, Finished };

using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

/// All of it lies in one anonymous mapping, zeroed by the kernel; pages that no thread needs are never touched.
struct State {
    Config config;
    EventChoice choice;
    CreateThread create_thread;
    pid_t pid;
    std::uint64_t time_offset;  // modulo 2^64: from the kernel's times to ours
    std::atomic<Stage> stage;
    std::atomic<int> refusal;
    int replaced;                     // as replaced()
    std::atomic<bool> timers_taken;   // the application has the signal of the timers: they are off
    std::atomic<bool> events_closed;  // the application has closed the descriptors of events
    std::atomic<int> unwritten;       // errno of what kept samples from being written
    std::atomic<bool> files_open;
    std::atomic<bool> helper_wanted;
    std::atomic<bool> helper_running;
    pthread_mutex_t pass_lock;  // held while slots are drained; never by a thread whose signals are not blocked
    bool paused;                // under the pass lock
    pthread_t helper;
    std::atomic<int> wake;            // eventfd
    std::atomic<std::uint32_t> used;  // slots from here on were never claimed
    spool::SpoolHeader header;
    spool::SpoolHeader slot_header;  // under the pass lock; not on the small stack that a thread may have
    BlockedCopy blocked_copy;        // likewise
    std::uint64_t next_look;         // of the helper, at threads that are blocked;
    std::uint32_t next_slot;         // which has its turn then
    std::uint64_t last_blocked;      // there was one then
    DeepLooks deep;
    char directory[4096];
    pollfd polled[max_threads + 1];
    PolledSlot polled_slot[max_threads + 1];  // in the same order
    Slot slots[max_threads];
};

/// Its events are disabled for a respite. Under the pass lock.
inline bool is_resting(const Slot& slot)
{
    const Mode mode = slot.watch.mode.load();
    return mode == Mode::Waiting || mode == Mode::Resting;
}

inline std::uint64_t now(const State& state)
{
    timespec time;
    clock_gettime(state.config.clock_id, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace critpath::sampling

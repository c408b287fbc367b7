// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the sampling of threads: one group of perf_events (or a timer) per thread, its ring, and the helper thread that
// drains rings into <rank>.<thread>.samples. Part of the preload library: no C++ runtime, no exceptions, no malloc.
//
// Order of calls: start_process, start_thread on the main thread, start_helper before there is a second one or the ring
// of the first is full, then start_thread on each thread that is to be sampled, open_files once the rank and the spool
// directory are known, finish. Samples that arrive before open_files are kept in memory. Without
// start_process the others do nothing; where sampling is refused each thread gets a file that is only a header with an
// empty SampleFormat::event, and `why_not`. No function changes errno, and while one runs the application's
// signals are blocked on its thread.
#pragma once

#include "collector/sampling/text.hpp"
#include "formats/spool/record.hpp"
#include "formats/spool/stack_image.hpp"

#include <atomic>
#include <cstdint>

namespace critpath::sampling
{

/// Where samples come from.
enum class Sampler : std::uint8_t {
    Auto,   // perf_event, and timers where that is refused
    Perf,   // perf_event only
    Timer,  // timers of the threads' processor time only (thread_timer.hpp)
};

/// Where the callers of samples come from.
struct Callers {
    spool::CallGraph call_graph;
    std::uint32_t stack_bytes =
        spool::StackImage::usual_copy;  // of a copy, with Dwarf; at most the largest, whole words
};

struct Config {
    std::uint32_t frequency;  // samples a second and thread, at least 1
    int clock_id;             // of all timestamps
    Callers callers;
    Sampler sampler;
    const char* events;  // as choose_followers; only looked at by start_process
};

/// Prepares sampling. Call before main() and before any other thread exists. The helper thread is started with the
/// pthread_create that stands behind the caller's in the search order (RTLD_NEXT), not with the caller's own.
void start_process(const Config& config);

/// From now on there is a helper thread while there are threads that are sampled. Until then nobody drains: what does
/// not fit into the ring of the only thread is counted as lost. Later calls do nothing.
void start_helper();

/// Samples the calling thread from now on. Signals are used only by timers (thread_timer.hpp). Never fails: what cannot
/// be sampled is counted and explained in the thread's SpoolHeader.
void start_thread(int thread);

/// The calling thread ends; its last samples are kept. Does nothing on a thread that was not started.
void stop_thread();

/// What a thread and the helper tell each other, for respites (respite.hpp).
enum class Mode : std::uint32_t {
    Plain,
    Debt,     // it switched too often: its waits shall be respites
    Waiting,  // a respite, as long as it waits
    Resting,  // a respite for a while
};
struct Watch {
    std::atomic<Mode> mode;
    std::atomic<std::uint32_t> waits;  // written by the thread: odd while it is in a wait
    std::atomic<std::uint32_t> asked;  // likewise: how often it asked in vain; 0 if the wait is a call
    std::uint32_t gave_way;            // in this wait, in debt
    std::atomic<bool> missed;          // the thread could not begin a respite, because the helper was at work

    [[nodiscard]] bool is_in_wait() const { return waits.load() % 2 != 0; }
};

/// Of the calling thread; nullptr if it is not sampled.
extern __thread Watch* own_watch __attribute__((tls_model("initial-exec"), visibility("hidden")));

// What the functions below do where there is something to do. Some microseconds; but see stop_resting.
void rest_in_wait();
void stop_resting();  // may wait for some ms for the helper
bool stop_resting_early();

/// The calling thread may have to wait for something, until wait_ends().
inline void wait_begins()
{
    if (own_watch != nullptr) {
        const std::uint32_t waits = own_watch->waits.load(std::memory_order_relaxed);
        own_watch->asked.store(0, std::memory_order_relaxed);
        own_watch->gave_way = 0;
        own_watch->waits.store(waits | 1U, std::memory_order_relaxed);
    }
}

/// The calling thread has asked in vain once more, at once after the last time: that is a wait, until wait_ends(). Only
/// in debt does it matter; this stands behind every poll.
inline void wait_goes_on()
{
    if (own_watch != nullptr && own_watch->mode.load(std::memory_order_relaxed) != Mode::Plain) [[unlikely]] {
        if (own_watch->waits.load(std::memory_order_relaxed) % 2 == 0) {
            wait_begins();
        }
        own_watch->asked.store(own_watch->asked.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
}

/// The calling thread gives way to others. In a wait it may do so again and again; a respite is as dear as a few times.
inline void gives_way()
{
    constexpr std::uint32_t times = 3;
    if (own_watch != nullptr && own_watch->mode.load(std::memory_order_relaxed) == Mode::Debt &&
        own_watch->waits.load(std::memory_order_relaxed) % 2 != 0 && ++own_watch->gave_way > times) {
        rest_in_wait();
    }
}

/// The wait is over, if there was one. True if saying that took more than a moment.
inline bool wait_ends()
{
    if (own_watch == nullptr) {
        return false;
    }
    const std::uint32_t waits = own_watch->waits.load(std::memory_order_relaxed);
    own_watch->waits.store(waits + waits % 2, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (own_watch->mode.load(std::memory_order_relaxed) == Mode::Waiting) [[unlikely]] {
        stop_resting();
        return true;
    }
    return false;
}

/// The calling thread has waited for long, and goes on: if it rests for a while, that may end now. True if it does.
inline bool work_begins()
{
    return own_watch != nullptr && own_watch->mode.load(std::memory_order_relaxed) == Mode::Resting &&
           stop_resting_early();
}

/// Takes no samples, context switches and page faults of any thread until resume(), also of those that begin meanwhile.
/// Any thread may call them; each takes some microseconds a thread, and may wait for a write to a sample file.
void pause();
void resume();

/// Gives every thread, present and future, its file: `header` is copied into each with the thread's own numbers
/// (thread, tid, thread_start, thread_end, record_size, samples, records, lost, closed) filled in. `records` counts the
/// raw records of all types, `lost` samples. From now on the helper thread drains into the files.
void open_files(const char* spool_directory, const spool::SpoolHeader& header);

/// Drains: the process may end at any moment without finish(). In vain if somebody else drains for some ms meanwhile.
void save();

/// Stops all sampling, drains, closes the files and ends the helper thread. All files are complete when it returns. A
/// second call does nothing.
void finish();

/// In the child of fork(): forgets everything without touching what the parent shares.
void abandon_in_child();

/// Why this process is not sampled, as errno of perf_event_open (ENOBUFS: no locked memory for the ring; EAGAIN: no
/// helper thread); 0 if it is, or without start_process. Known after the first start_thread.
int refused();

/// The errno of perf_event_open where timers do what it refused to do; 0 elsewhere.
int replaced();

/// True if timers have stopped because the application cancelled a thread (thread_timer.hpp).
bool lost_signal();

/// True if samples of a thread have ended because the application closed the descriptor of its perf_event.
bool lost_events();

/// The errno of what kept samples of a thread from being written, which are lost; 0: nothing did. Known after finish().
int unwritten();

/// Why the event, a place in event_names, cannot be counted here although it was asked for, as errno; 0: nobody asked,
/// or it is.
int refused_event(std::uint32_t name);

/// Appends what `error`, a result of refused() or replaced(), means and what to do about it: "object: cause; next
/// action".
void explain_refusal(Text& text, int error);

}  // namespace critpath::sampling

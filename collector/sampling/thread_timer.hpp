// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the other source of samples, for where the kernel refuses perf_event_open: a timer of the thread's processor
// time, whose signal handler writes into a ring of the same layout what the kernel would have written. To the
// application it must be as if there was no signal:
//   - The signal is the one that glibc keeps for cancelling threads (2.34 and newer). An application cannot block it,
//     wait for it, send it or handle it, nor find it pending: the functions of the C library leave it out. The first
//     pthread_cancel puts glibc's own handler in the place of ours; that ignores what a timer sends, and then there are
//     no more samples. After fork there is no timer; exec deletes the timers with their signals.
//   - It interrupts no system call: on the kernels that choose_timer() asks for, such a timer expires on the way back
//     to user code, not in the interrupt. (A thread that sleeps uses no time.)
//   - The handler allocates nothing, waits for nothing, and leaves errno alone; no other handler runs on top of it. It
//     runs on the thread's alternate stack, if it has one; where that is too small, the thread has no samples.
// The kernel looks at these timers at its tick, so that a sample lies up to a tick behind the moment that it stands
// for. Processor time that was used in short runs, between ticks, has no samples, but all of it is in Count. So is what
// was used while the application held all signals back, by a system call of its own. There are no context switches.
#pragma once

#include "collector/sampling/perf_event.hpp"

#include <cstdint>

#include <signal.h>

namespace critpath::sampling
{

/// Fills `choice` in for timers. Returns 0; ENXIO where they would disturb the application, unless they are `asked_for`
/// (and the machine has them at all); or EBUSY where somebody handles the signal already. Call before other threads
/// exist: it installs the handler, for the rest of the process.
int choose_timer(std::uint32_t frequency, int clock_id, std::uint64_t time_offset, const Callers& callers,
                 bool asked_for, EventChoice& choice);

// What perf_event.hpp says of events, for timers. open_timer() is for the calling thread.
int open_timer(const EventChoice& choice, PerfEvent& event);
void close_timer(PerfEvent& event);
void arm_timer(const PerfEvent& event);
void disarm_timer(const PerfEvent& event);
Count read_timer(const PerfEvent& event);

/// The calling thread will not be sampled any more, so that its ring may go.
void leave_timer();

/// The calling thread is about to have this alternate stack. Where the handler does not fit, its timer stays off from
/// now on.
void handlers_run_on(const stack_t& stack);

/// In the child of a fork(): there is no such timer here, and its ring is not mapped.
void forget_timer();

/// False once the thread of the timer, one of this process, is over; a main thread may be so before its process is.
bool has_thread(const PerfEvent& event);

/// True if there are no more samples, for the rest of the thread: the application has the signal, or has given the
/// thread a stack that the handler does not fit on.
bool has_stopped(const PerfEvent& event);

/// True as long as the signal has its handler from choose_timer().
bool is_signal_ours();

}  // namespace critpath::sampling

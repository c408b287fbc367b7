// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how long threads wait for processors, as the kernel counts it (proc(5), /proc/pid/schedstat): switches tell how
// long a thread was preempted, but not that it was woken and others had the processor. The helper reads the count when
// it looks at blocked threads, and threads do at their begin and end; what they do in between is not touched.
#pragma once

#include "collector/sampling/descriptors.hpp"

#include <cstdint>

namespace critpath::sampling
{

struct State;
struct Slot;

/// Of one thread, under the pass lock. Plain data.
struct RunDelay {
    struct Reading {
        std::uint64_t time;  // 0: there is none
        std::uint64_t waited;
    };

    Descriptor count;      // the kernel's
    bool is_told;          // it is kept, and not 0 for ever
    Reading last;          // all switches since then are recorded, but for
    std::uint64_t rested;  // ns of respites that the thread ended itself
    std::uint64_t head;    // as Out::head, then
    Reading at_end;        // by whoever ended the slot
};

/// By the thread itself, as open_system_call().
void open_run_delay(Slot& slot);
void close_run_delay(Slot& slot);

/// The thread itself, right before its events are enabled.
void begin_run_delay(const State& state, Slot& slot);

/// The helper. False if there was nothing new to read.
bool measure_run_delay(const State& state, Slot& slot);

/// Right before the events are disabled for good: the last reading; and when all records are kept, what it says.
void end_run_delay(const State& state, Slot& slot);
void keep_run_delay(const State& state, Slot& slot);

/// A respite of the thread is over that it has ended itself.
void add_rest(Slot& slot, std::uint64_t ns);

/// There were switches that nobody recorded, or will be.
void forget_run_delay(Slot& slot);

}  // namespace critpath::sampling

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns one group of perf_events of the calling thread (what is sampled, and the events whose counts each sample
// carries) and the ring that the kernel writes samples and context switches to. Plain data, because it lives in zeroed
// memory that was never constructed.
#pragma once

#include "collector/sampling/event_names.hpp"
#include "collector/sampling/sampling.hpp"
#include "formats/spool/record.hpp"

#include <cstddef>
#include <cstdint>

#include <unistd.h>

namespace critpath::sampling
{

inline constexpr std::uint64_t ns_per_second = 1'000'000'000;
inline constexpr std::uint64_t ns_per_ms = 1'000'000;

/// Of what stands before a ring, whose own size is a multiple of it.
inline std::size_t page_size()
{
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// What to sample: chosen once a process by choose_event, then opened once a thread.
struct EventChoice {
    const char* name;  // as SampleFormat::event
    std::uint32_t type;
    std::uint64_t config;
    std::uint64_t period;
    std::uint64_t first_period;  // until end_first_period(); 0: `period`. Of timers, when the first one is over
    std::uint32_t precise_ip;    // as SampleFormat::precise_ip
    bool kernel;                 // time in the kernel is sampled too
    int clock_id;
    std::uint32_t ring_pages;    // wished for
    std::uint32_t fewest_pages;  // with less, a sample might not fit
    std::uint32_t wakeup_bytes;  // unread, until the helper is woken
    spool::CallGraph call_graph;
    std::uint64_t registers;    // as SampleFormat::registers
    std::uint32_t stack_bytes;  // as SampleFormat::stack_bytes
    bool timer;                 // there are no events: the functions below are those of thread_timer.hpp
    std::uint64_t time_offset;  // of timers: as State::time_offset
    std::uint32_t followers;
    std::uint32_t follower[spool::max_events];  // counted with it: places in event_names; the first one is page faults
    int refused[event_name_count];              // errno, where an event was asked for that cannot be counted
    int no_cycles;                              // errno, where something else is sampled because cycles cannot be
};

struct PerfEvent {
    static constexpr std::uint64_t in_first_period = ~std::uint64_t{0};

    int fd;            // of the sampled event, which leads the group; -1: not open
    std::uint64_t id;  // the kernel's name of it, by which a descriptor is known as ours
    char* control;     // perf_event_mmap_page, followed by the ring
    std::size_t ring_size;
    std::uint64_t first_end;  // where the ring had got to when the first period ended; 0: there was none
    std::uint32_t followers;  // EventChoice::follower, as far as they were tried
    int follower_fd[spool::max_events];
    std::uint64_t follower_id[spool::max_events];  // 0: not counted
    bool is_timer;

    [[nodiscard]] bool is_open() const { return control != nullptr; }
    [[nodiscard]] bool is_in_first_period() const { return first_end == in_first_period; }
};

inline constexpr PerfEvent no_event = {-1, 0, nullptr, 0, 0, 0, {}, {}, false};

/// Unread records of a ring: at most two pieces, because the ring wraps. One behind the other they are whole records.
struct Unread {
    const char* piece[2];
    std::size_t size[2];
    std::uint64_t head;     // where the next unread record will begin
    std::uint64_t records;  // of any type
    std::uint64_t samples;
    std::uint64_t first_samples;  // of them, in the first period
    std::uint64_t lost;           // records that the kernel says it could not write: samples, or switches;
    std::uint64_t lost_first;     // and in the first period
    std::uint64_t last_switch;    // on the kernel's clock; 0: there is none
};

/// The last record of a ring, if it says that the thread left its processor because it was blocked.
struct Out {
    std::uint64_t time;  // on the kernel's clock; 0: the record says something else
    std::uint64_t head;  // where the record ends: changes with every record
};

struct Count {
    std::uint64_t value;
    std::uint64_t time_running;
    std::uint64_t page_faults;
};

/// Fills in what a sample is to carry, and how much room that takes at `frequency` Hz.
void choose_contents(std::uint32_t frequency, const Callers& callers, EventChoice& choice);

/// A period a little beside `period`: a program that repeats itself every so many round units would meet a round one
/// always at the same place.
std::uint64_t uneven(std::uint64_t period);

/// A period of one thread: `period`, and a tenth of it more or less at most, as `random` (any number) has it. What a
/// program repeats in step with it on one thread, and in one run, it does not on the next.
std::uint64_t varied(std::uint64_t period, std::uint64_t random);

/// Any part of `period`, as `random` has it: what may be left of it when a thread begins.
std::uint64_t any_part(std::uint64_t period, std::uint64_t random);

/// Finds the event that this machine can sample at `frequency` Hz on the calling thread: hardware cycles if they are
/// really counted, else cpu-clock, and `no_cycles` says why. Returns 0 or the errno of perf_event_open; `choice` is
/// usable in both cases.
int choose_event(std::uint32_t frequency, int clock_id, const Callers& callers, EventChoice& choice);

/// What is to be counted in the group of the event that was chosen: page faults, and those of `list` (names of
/// event_names, with commas between them) that the machine counts, and counts at the same time. Empty: instructions and
/// cache misses, if cycles are sampled.
void choose_followers(const char* list, EventChoice& choice);

/// Opens the event for the calling thread, disabled, with the largest ring that the limits allow. Returns 0 or an
/// errno; ENOBUFS says that not even the smallest ring fits into the limit of locked memory. Events of the group are
/// left out if they cannot be counted, for want of a descriptor for example.
int open_event(const EventChoice& choice, PerfEvent& event);
void close_event(PerfEvent& event);

/// As close_event, in the child of a fork(), which has not got the ring.
void drop_event(PerfEvent& event);

/// False if the application has closed the descriptor of the sampled event, whatever that may stand for now. It is then
/// left alone by all functions here.
bool is_ours(const PerfEvent& event);

/// Which of EventChoice::follower are counted, as SampleFormat::counted_events.
std::uint64_t counted_events(const PerfEvent& event);

/// The event has this period from now on. Not for timers.
void end_first_period(PerfEvent& event, std::uint64_t period);

void enable_event(const PerfEvent& event);
void disable_event(const PerfEvent& event);

/// Bytes that wait in the ring.
std::size_t unread_bytes(const PerfEvent& event);

/// Looks at what is unread; it stays in the ring until release_records.
Unread peek_records(const PerfEvent& event);
void release_records(const PerfEvent& event, const Unread& unread);

Out last_out(const PerfEvent& event);

/// Totals since the events were opened.
Count read_count(const PerfEvent& event);

}  // namespace critpath::sampling

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/blocked.hpp"

#include "collector/sampling/descriptors.hpp"
#include "collector/sampling/text.hpp"
#include "collector/sampling/user_stack.hpp"
#include "formats/support/mixed.hpp"

#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace critpath::sampling
{
namespace
{

// On average: what repeats itself must not fall in step. Most threads are never blocked, so that nobody is to be woken
// often for them.
constexpr std::uint64_t look_every = 50 * ns_per_ms;
constexpr std::uint64_t look_rarely = 250 * ns_per_ms;
constexpr std::uint64_t forget_after = 1000 * ns_per_ms;  // the last one that was blocked, or the beginning
constexpr std::uint64_t least_blocked = ns_per_ms / 50;   // for less, nobody asks where
// At a time: starting threads wait meanwhile, and where there are very many, some of their waits tell of the others.
constexpr std::uint32_t most_looks = 16;
constexpr std::uint32_t most_readings = 64;  // what each takes is a tenth of that

/// What the kernel says of a thread that is blocked (proc(5), /proc/pid/syscall).
struct Place {
    std::int64_t system_call;  // -1: in none
    bool is_timed;             // it ends after a while, whatever happens
    std::uint64_t stack_pointer, instruction;
};

constexpr int most_arguments = 6;

/// The system calls that may have a limit of time, and which of their arguments that is.
struct TimedCall {
    long number;
    int argument;
    bool is_pointer;  // to the limit: null without one; else a number of ms, less than 0 without one
};

constexpr TimedCall timed_calls[] = {
#ifdef SYS_nanosleep
    {SYS_nanosleep, 0, true},
#endif
    {SYS_clock_nanosleep, 2, true}, {SYS_futex, 3, true},
#ifdef SYS_futex_waitv
    {SYS_futex_waitv, 3, true},
#endif
#ifdef SYS_poll
    {SYS_poll, 2, false},
#endif
    {SYS_ppoll, 2, true},
#ifdef SYS_select
    {SYS_select, 4, true},
#endif
    {SYS_pselect6, 4, true},
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, 3, false},
#endif
    {SYS_epoll_pwait, 3, false},
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, 3, true},
#endif
    {SYS_rt_sigtimedwait, 2, true},
};

bool is_timed(std::int64_t system_call, const std::uint64_t (&arguments)[most_arguments])
{
    for (const TimedCall& call : timed_calls) {
        if (call.number == system_call) {
            const std::uint64_t limit = arguments[call.argument];
            return call.is_pointer ? limit != 0 : static_cast<std::int32_t>(limit) >= 0;
        }
    }
    return false;
}

/// False if it is not blocked, or nothing is known of it.
bool read_place(const Descriptor& system_call, Place& place)
{
    char line[256];
    if (system_call.fd < 0 || !is_file(system_call.fd, system_call.identity)) {
        return false;
    }
    const long length = syscall(SYS_pread64, system_call.fd, line, sizeof line - 1, 0);
    if (length <= 0) {
        return false;
    }
    line[length] = '\0';
    char* rest = nullptr;
    place.system_call = std::strtoll(line, &rest, 10);
    if (rest == line) {
        return false;  // "running"
    }
    std::uint64_t arguments[most_arguments] = {};
    for (int i = 0; i < (place.system_call < 0 ? 0 : most_arguments); ++i) {
        arguments[i] = std::strtoull(rest, &rest, 16);
    }
    place.is_timed = is_timed(place.system_call, arguments);
    place.stack_pointer = std::strtoull(rest, &rest, 16);
    place.instruction = std::strtoull(rest, &rest, 16);
    return place.instruction != 0;
}

/// What the thread does since it is blocked, if it still is when all is known.
void look(const State& state, Slot& slot, const Out& out, BlockedCopy& copy)
{
    Place place{};
    if (!read_place(slot.system_call, place)) {
        return;
    }
    const bool has_callers = state.choice.call_graph != spool::CallGraph::None;
    const std::size_t wanted = state.choice.stack_bytes > spool::StackImage::usual_copy ? state.choice.stack_bytes
                                                                                        : spool::StackImage::usual_copy;
    const std::size_t size = has_callers ? copy_stack(place.stack_pointer, copy.stack, wanted) : 0;
    if (last_out(slot.event).head != out.head) {
        return;
    }
    copy.record = {spool::BlockedRecord::number, place.is_timed,   0, out.time, place.system_call,
                   place.stack_pointer,          place.instruction};
    copy.copied = size;
    // Behind the copy stands how much of it is one, as in samples.
    std::memcpy(copy.stack + size, &copy.copied, sizeof copy.copied);
    const std::size_t bytes = sizeof copy.record + sizeof copy.copied + size + (size > 0 ? sizeof copy.copied : 0);
    copy.record.size = static_cast<std::uint16_t>(bytes);
    append_record(slot.file, state.choice, &copy, bytes);
}

bool is_recorded(const State& state, const Slot& slot)
{
    return slot.state.load(std::memory_order_acquire) == SlotState::Active && slot.event.control != nullptr &&
           !state.choice.timer && !is_resting(slot);
}

}  // namespace

void open_system_call(Slot& slot)
{
    const Text path = Text() << "/proc/self/task/" << static_cast<std::uint64_t>(slot.tid) << "/syscall";
    slot.system_call = open_to_stay(path.path(), O_RDONLY);
}

void close_system_call(Slot& slot)
{
    close_if_ours(slot.system_call);
}

void look_at_blocked(State& state)
{
    const std::uint64_t time = now(state);
    if (time < state.next_look) {
        return;
    }
    pthread_mutex_lock(&state.pass_lock);
    if (state.last_blocked == 0 && !state.paused) {
        state.last_blocked = time;  // of short runs, too, enough is to be known
    }
    const std::uint32_t used = state.paused ? 0 : state.used.load(std::memory_order_acquire);
    std::uint32_t looks = 0, readings = 0, seen = 0;
    for (; seen < used && looks < most_looks && readings < most_readings; ++seen) {
        Slot& slot = state.slots[(state.next_slot + seen) % used];
        if (!is_recorded(state, slot)) {
            continue;
        }
        readings += measure_run_delay(state, slot) ? 1 : 0;
        const Out out = last_out(slot.event);
        if (!slot.watch.is_in_wait() && out.time != 0 && out.head != slot.looked_at &&
            time > out.time + state.time_offset + least_blocked) {
            slot.looked_at = out.head;
            state.last_blocked = time;
            look(state, slot, out, state.blocked_copy);
            ++looks;
        }
    }
    if (seen < used) {
        state.next_slot += seen;
    }
    pthread_mutex_unlock(&state.pass_lock);
    const std::uint64_t interval = time - state.last_blocked < forget_after ? look_every : look_rarely;
    state.next_look = time + interval / 2 + mixed(time) % interval;
}

int until_next_look(const State& state, int longest)
{
    const std::uint64_t time = now(state);
    const bool is_deep = state.deep.is_needed && state.deep.next < state.next_look;
    const std::uint64_t next = is_deep ? state.deep.next : state.next_look;
    const std::uint64_t left = next > time ? (next - time) / ns_per_ms + 1 : 0;
    return left < static_cast<std::uint64_t>(longest) ? static_cast<int>(left) : longest;
}

}  // namespace critpath::sampling

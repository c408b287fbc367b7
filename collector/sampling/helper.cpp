// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/helper.hpp"

#include "collector/sampling/blocked.hpp"
#include "collector/sampling/deep_stack.hpp"
#include "collector/sampling/descriptors.hpp"
#include "collector/sampling/drain.hpp"
#include "collector/sampling/respite.hpp"
#include "collector/sampling/text.hpp"
#include "collector/sampling/thread_timer.hpp"

#include <cerrno>
#include <cstring>

#include <sys/eventfd.h>
#include <unistd.h>

namespace critpath::sampling
{
namespace
{

constexpr char eventfd_target[] = "anon_inode:[eventfd]";
constexpr useconds_t without_poll = 100'000;   // between two visits
constexpr int between_visits = 1000;           // ms, where nothing wakes the helper;
constexpr int between_visits_to_timers = 250;  // likewise, as thread_timer.cpp reckons

/// False if the application has closed the descriptor, and may have opened something of its own in its place.
bool is_eventfd(int fd)
{
    char target[sizeof eventfd_target];
    const Text link = Text() << "/proc/self/fd/" << fd;
    return fd >= 0 && readlink(link.path(), target, sizeof target) == sizeof eventfd_target - 1 &&
           std::memcmp(target, eventfd_target, sizeof eventfd_target - 1) == 0;
}

/// Without the eventfd the helper wakes by itself.
void wake_helper(State& state)
{
    int wake = state.wake.load();
    if (is_eventfd(wake)) {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t ignored = write(wake, &one, sizeof one);
    } else {
        state.wake.compare_exchange_strong(wake, -1);
    }
}

std::uint32_t collect_polled(State& state)
{
    pthread_mutex_lock(&state.pass_lock);
    state.polled[0] = {state.wake.load(), POLLIN, 0};
    std::uint32_t count = 1;
    const std::uint32_t used = state.used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) {
        const Slot& slot = state.slots[i];
        if (slot.state.load(std::memory_order_acquire) == SlotState::Active && slot.event.fd >= 0) {
            state.polled[count] = {slot.event.fd, POLLIN, 0};
            state.polled_slot[count] = {i, slot.event.id};
            ++count;
        }
    }
    pthread_mutex_unlock(&state.pass_lock);
    return count;
}

void look_at_polled(State& state, std::uint32_t count)
{
    std::uint64_t ignored;
    if (const int wake = state.polled[0].fd; state.polled[0].revents != 0 && wake >= 0) {
        if (!is_eventfd(wake) || read(wake, &ignored, sizeof ignored) < 0) {
            state.wake = -1;  // the application closed what it did not open; poll must not spin on it
        }
    }
    pthread_mutex_lock(&state.pass_lock);
    for (std::uint32_t i = 1; i < count; ++i) {
        const auto [number, event] = state.polled_slot[i];
        Slot& slot = state.slots[number];
        // Since then another thread may have closed the slot, and a third one may have it by now.
        if (slot.state.load(std::memory_order_acquire) != SlotState::Active || slot.event.id != event) {
            continue;
        }
        const short events = state.polled[i].revents;
        slot.ready = events != 0;
        const bool is_closed = events != 0 && !is_ours(slot.event);         // by somebody else
        if ((events & (POLLHUP | POLLERR | POLLNVAL)) != 0 || is_closed) {  // or the thread ended without a word
            slot.spent = is_closed;
            state.events_closed = state.events_closed || is_closed;
            end_slot(state, slot);
        }
    }
    pthread_mutex_unlock(&state.pass_lock);
}

/// As look_at_polled, for timers: they say nothing of a ring that fills, of the end of their thread, nor that they have
/// lost their signal.
void look_at_timers(State& state)
{
    const bool is_taken = !is_signal_ours() && !state.timers_taken.exchange(true);
    pthread_mutex_lock(&state.pass_lock);
    const std::uint32_t used = state.used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) {
        Slot& slot = state.slots[i];
        if (slot.state.load(std::memory_order_acquire) != SlotState::Active || !slot.event.is_timer) {
            continue;
        }
        if (is_taken) {
            disable_event(slot.event);
        }
        slot.ready = unread_bytes(slot.event) >= state.choice.wakeup_bytes;
        if (!has_thread(slot.event)) {
            end_slot(state, slot);
        }
    }
    pthread_mutex_unlock(&state.pass_lock);
}

/// A process ends with its last thread; that must not be the helper. True if no thread is left to help; the helper
/// is then free to end, and a later thread starts a new one.
bool nobody_left(State& state)
{
    pthread_mutex_lock(&state.pass_lock);
    bool left = state.stage.load() != Stage::Running;  // finish waits for the helper
    const std::uint32_t used = state.used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used && !left; ++i) {
        const SlotState slot_state = state.slots[i].state.load();
        left = slot_state == SlotState::Claimed || slot_state == SlotState::Active || slot_state == SlotState::Ending;
    }
    if (!left) {
        pthread_detach(state.helper);
        state.helper_running.store(false);
        close_wake(state);
    }
    pthread_mutex_unlock(&state.pass_lock);
    return !left;
}

void* help(void* argument)
{
    State& state = *static_cast<State*>(argument);
    pthread_setname_np(pthread_self(), "cp-sampler");
    while (state.stage.load() == Stage::Running) {
        const std::uint32_t count = collect_polled(state);
        // An application that closes all descriptors closes the eventfd too, and poll() does not notice.
        const int longest = state.choice.timer ? between_visits_to_timers : between_visits;
        const int patience = until_next_look(state, until_respite_ends(state, state.wake.load() >= 0 ? longest : 100));
        if (poll(state.polled, count, patience) >= 0) {
            look_at_polled(state, count);
        } else if (errno != EINTR) {  // the limit of descriptors is less than their number by now
            usleep(without_poll);
        }
        if (state.choice.timer) {
            look_at_timers(state);
        }
        look_at_deep_stacks(state);  // first: it looks into the rings
        pass(state);
        look_at_blocked(state);
        if (nobody_left(state)) {
            break;
        }
    }
    return nullptr;
}

int create_helper(State& state)
{
    constexpr std::size_t small_stack = std::size_t{256} << 10;
    const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0) {
        return errno;
    }
    state.wake = move_descriptor_up(wake);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, small_stack);
    int error = state.create_thread(&state.helper, &attributes, help, &state);
    pthread_attr_destroy(&attributes);
    if (error == EINVAL) {  // thread-local data of the application's libraries need more
        error = state.create_thread(&state.helper, nullptr, help, &state);
    }
    if (error != 0) {
        close_wake(state);
    }
    return error;
}

}  // namespace

int ensure_helper(State& state)
{
    pthread_mutex_lock(&state.pass_lock);
    int error = 0;
    if (!state.helper_running.load()) {
        error = create_helper(state);
        state.helper_running.store(error == 0);
    }
    pthread_mutex_unlock(&state.pass_lock);
    return error;
}

void request_pass(State& state)
{
    if (state.helper_running.load()) {
        wake_helper(state);
    } else {
        pass(state);
    }
}

void join_helper(State& state)
{
    pthread_mutex_lock(&state.pass_lock);
    const bool helped = state.helper_running.load();
    pthread_mutex_unlock(&state.pass_lock);
    if (helped) {
        wake_helper(state);
        pthread_join(state.helper, nullptr);
        state.helper_running.store(false);
    }
}

void close_wake(State& state)
{
    const int wake = state.wake.exchange(-1);
    if (is_eventfd(wake)) {
        close(wake);
    }
}

}  // namespace critpath::sampling

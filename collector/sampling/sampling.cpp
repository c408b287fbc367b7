// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The life of a process' sampling, and what its threads do themselves; see state.hpp.
#include "collector/sampling/sampling.hpp"

#include "collector/sampling/blocked.hpp"
#include "collector/sampling/deep_stack.hpp"
#include "collector/sampling/drain.hpp"
#include "collector/sampling/helper.hpp"
#include "collector/sampling/quiet.hpp"
#include "collector/sampling/state.hpp"
#include "collector/sampling/thread_timer.hpp"
#include "collector/sampling/time_namespace.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace critpath::sampling
{
namespace
{

std::atomic<State*> process_state{nullptr};
thread_local Slot* own_slot = nullptr;

enum class Patience { None, Some };

/// The helper may hold the pass lock while it writes to a slow disk, which no thread waits for; but some wait as long
/// as a helper may need that shares their processor.
bool lock(State& state, Patience patience)
{
    if (pthread_mutex_trylock(&state.pass_lock) == 0) {
        return true;
    }
    if (patience == Patience::None) {
        return false;
    }
    constexpr long longest = 5'000'000;  // ns
    timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += longest;
    if (end.tv_nsec >= 1'000'000'000) {
        ++end.tv_sec;
        end.tv_nsec -= 1'000'000'000;
    }
    return pthread_mutex_clocklock(&state.pass_lock, CLOCK_MONOTONIC, &end) == 0;
}

/// The state while threads may come and go; null when there is nothing to do.
State* running()
{
    State* state = process_state.load(std::memory_order_acquire);
    return state != nullptr && state->stage.load() == Stage::Running ? state : nullptr;
}

Slot* claim_slot(State& state)
{
    for (std::uint32_t i = 0; i < max_threads; ++i) {
        Slot& slot = state.slots[i];
        SlotState expected = SlotState::Free;
        if (slot.state.load(std::memory_order_relaxed) == SlotState::Free &&
            slot.state.compare_exchange_strong(expected, SlotState::Claimed)) {
            std::uint32_t used = state.used.load();
            while (used <= i && !state.used.compare_exchange_weak(used, i + 1)) {
            }
            return &slot;
        }
    }
    return nullptr;
}

void init_slot(const State& state, Slot& slot, int thread)
{
    slot.thread = thread;
    slot.tid = syscall(SYS_gettid);
    slot.start = now(state);
    slot.end = 0;
    slot.watch.mode = Mode::Plain;
    slot.watch.waits = 0;
    slot.watch.asked = 0;
    slot.watch.gave_way = 0;
    slot.watch.missed = false;
    slot.account = {};
    slot.charged = slot.start;
    slot.switches = 0;
    slot.own_rest = false;
    slot.rest_end = 0;
    slot.rested = 0;
    slot.asked = 0;
    slot.looked = 0;
    slot.spent = false;
    slot.why_not = 0;
    slot.ready = false;
    slot.file_tried = false;
    slot.event = no_event;
    slot.counted_events = 0;
    slot.count = {};
    slot.period = 0;
    slot.first_period = 0;
    slot.timer_stopped = false;
    slot.name[0] = '\0';
    slot.looked_at = 0;
    slot.system_call = no_descriptor;
    slot.run_delay = {};
    slot.run_delay.count = no_descriptor;
    slot.deep = {};
    init_file(slot.file);
}

/// Returns 0 if the thread is going to be sampled, or the reason as an errno.
int open_slot_event(State& state, Slot& slot)
{
    const int refusal = state.refusal.load();
    if (refusal != 0) {
        return refusal;
    }
    EventChoice own = state.choice;
    const std::uint64_t random = slot.start ^ static_cast<std::uint64_t>(slot.tid) << 32;
    own.period = varied(own.period, random);
    slot.period = own.period;
    if (slot.thread > 0) {  // the first one is not over soon
        own.first_period = any_part(own.period, ~random);
        slot.first_period = own.timer ? 0 : own.first_period;
    }
    int error = open_event(own, slot.event);
    if (error == 0 && state.helper_wanted.load()) {
        error = ensure_helper(state);
        if (error != 0) {
            close_event(slot.event);
        }
    }
    if (error != 0 && !state.helper_running.load()) {
        state.refusal.store(error);  // not even the first thread: later ones need not try
    }
    return error;
}

/// What samples are taken from, in the whole process.
void choose_source(State& state)
{
    const Config& config = state.config;
    const bool asked_for = config.sampler == Sampler::Timer;
    int error = ENXIO;
    if (!asked_for) {
        error = choose_event(config.frequency, config.clock_id, config.callers, state.choice);
    }
    const int no_cycles = asked_for ? 0 : state.choice.no_cycles;
    if (error != 0 && config.sampler != Sampler::Perf) {
        const int timer_error =
            choose_timer(config.frequency, config.clock_id, state.time_offset, config.callers, asked_for, state.choice);
        state.replaced = !asked_for && timer_error == 0 ? error : 0;
        error = asked_for || timer_error == 0 ? timer_error : error;
    }
    if (error == 0) {
        choose_followers(config.events, state.choice);
    }
    state.choice.no_cycles = no_cycles;
    state.refusal = error;
}

bool is_any_open(State& state)
{
    const std::uint32_t used = state.used.load();
    bool open = false;
    for (std::uint32_t i = 0; i < used && !open; ++i) {
        const Slot& slot = state.slots[i];
        open = slot.state.load(std::memory_order_acquire) == SlotState::Active && slot.event.is_open();
    }
    return open;
}

/// There is no helper and there will be none: as if the events had never been opened.
void refuse_all(State& state, int error)
{
    pthread_mutex_lock(&state.pass_lock);
    const std::uint32_t used = state.used.load();
    for (std::uint32_t i = 0; i < used; ++i) {
        Slot& slot = state.slots[i];
        if (slot.state.load(std::memory_order_acquire) == SlotState::Active && slot.event.is_open()) {
            close_event(slot.event);
            discard_memory(slot.file);
            init_file(slot.file);
            slot.why_not = error;
        }
    }
    pthread_mutex_unlock(&state.pass_lock);
}

/// The event of the calling thread, unless recording pauses.
void enable_own(State& state, Slot& slot, const PerfEvent& event)
{
    if (!event.is_open()) {
        return;
    }
    pthread_mutex_lock(&state.pass_lock);  // so that switch_all comes before or after
    if (!state.paused) {
        if (slot.state.load(std::memory_order_acquire) == SlotState::Active && slot.event.id == event.id) {
            begin_run_delay(state, slot);
        }
        enable_event(event);
    }
    pthread_mutex_unlock(&state.pass_lock);
}

void switch_all(bool on)
{
    const Quiet quiet;
    State* state = running();
    if (state == nullptr) {
        return;
    }
    pthread_mutex_lock(&state->pass_lock);  // so that no event is closed meanwhile
    const std::uint32_t used = state->used.load();
    for (std::uint32_t i = 0; i < used && state->paused == on; ++i) {
        Slot& slot = state->slots[i];
        if (slot.state.load(std::memory_order_acquire) == SlotState::Active && slot.event.is_open() &&
            !is_resting(slot)) {
            forget_run_delay(slot);
            on ? enable_event(slot.event) : disable_event(slot.event);
        }
    }
    state->paused = !on;
    pthread_mutex_unlock(&state->pass_lock);
}

/// Under the pass lock, if the slot is still the calling thread's. False if the lock could not be had.
template <class Function>
bool with_own_slot(Patience patience, Function&& function)
{
    const Quiet quiet;
    State* state = running();
    Slot* slot = own_slot;
    if (state == nullptr || slot == nullptr || !lock(*state, patience)) {
        return false;
    }
    if (slot->state.load(std::memory_order_acquire) == SlotState::Active && slot->tid == syscall(SYS_gettid)) {
        function(*state, *slot);
    } else {
        own_watch = nullptr;  // the helper has ended it
    }
    pthread_mutex_unlock(&state->pass_lock);
    return true;
}

}  // namespace

__thread Watch* own_watch = nullptr;

void start_process(const Config& config)
{
    const Quiet quiet;
    if (process_state.load() != nullptr) {
        return;
    }
    void* memory =
        mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return;
    }
    State* state = static_cast<State*>(memory);
    state->config = config;
    state->pid = getpid();
    state->time_offset = static_cast<std::uint64_t>(time_offset());
    state->wake = -1;
    pthread_mutex_init(&state->pass_lock, nullptr);
    choose_source(*state);
    state->create_thread = reinterpret_cast<CreateThread>(dlsym(RTLD_NEXT, "pthread_create"));
    if (state->create_thread == nullptr) {
        state->refusal = EAGAIN;
    }
    process_state.store(state, std::memory_order_release);
}

void start_helper()
{
    const Quiet quiet;
    State* state = running();
    if (state == nullptr || state->helper_wanted.exchange(true) || !is_any_open(*state)) {
        return;
    }
    if (const int error = ensure_helper(*state); error != 0) {
        state->refusal.store(error);
        refuse_all(*state, error);
    }
}

void start_thread(int thread)
{
    const Quiet quiet;
    State* state = running();
    if (state == nullptr || own_slot != nullptr) {
        return;
    }
    Slot* slot = claim_slot(*state);
    if (slot == nullptr) {
        return;
    }
    init_slot(*state, *slot, thread);
    slot->why_not = open_slot_event(*state, *slot);
    const PerfEvent event = slot->event;
    slot->counted_events = counted_events(event);
    if (event.is_open() && !event.is_timer) {
        open_system_call(*slot);
        open_run_delay(*slot);
    }
    begin_deep_stack(*state, *slot);
    own_slot = slot;
    own_watch = event.is_open() && !event.is_timer ? &slot->watch : nullptr;
    slot->state.store(SlotState::Active, std::memory_order_release);
    request_pass(*state);
    if (state->stage.load() != Stage::Running) {  // finish() did not see this slot
        end_slot(*state, *slot);
        pass(*state);
    } else {
        enable_own(*state, *slot, event);  // last, so that this function is not sampled
    }
}

void stop_thread()
{
    const Quiet quiet;
    Slot* slot = own_slot;
    own_slot = nullptr;
    own_watch = nullptr;
    State* state = running();
    // The helper may have ended the slot before, and another thread may have it by now.
    if (slot == nullptr || state == nullptr || slot->tid != syscall(SYS_gettid)) {
        return;
    }
    const PerfEvent event = slot->event;
    if (event.is_open()) {
        end_run_delay(*state, *slot);
        disable_event(event);
    }
    leave_timer();
    read_thread_name(slot->tid, slot->name);
    slot->end = now(*state);
    SlotState expected = SlotState::Active;
    if (slot->state.compare_exchange_strong(expected, SlotState::Ending)) {
        request_pass(*state);
    }
}

void rest_in_wait()
{
    if (!with_own_slot(Patience::None, begin_own_rest) && own_watch != nullptr) {
        own_watch->missed.store(true, std::memory_order_relaxed);
    }
}

void stop_resting()
{
    with_own_slot(Patience::Some, end_own_rest);
}

bool stop_resting_early()
{
    bool ended = false;
    with_own_slot(Patience::None, [&ended](const State& state, Slot& slot) { ended = end_rest_early(state, slot); });
    return ended;
}

void pause()
{
    switch_all(false);
}

void resume()
{
    switch_all(true);
}

void open_files(const char* spool_directory, const spool::SpoolHeader& header)
{
    const Quiet quiet;
    State* state = running();
    if (state == nullptr || state->files_open.load()) {
        return;
    }
    state->header = header;
    std::strncpy(state->directory, spool_directory, sizeof state->directory - 1);
    state->files_open.store(true, std::memory_order_release);
    // Here and now: a file of the helper's might for a moment have the number that the application's next one gets.
    pass(*state);
}

void save()
{
    const Quiet quiet;
    State* state = running();
    if (state == nullptr || state->pid != getpid() || !lock(*state, Patience::Some)) {
        return;
    }
    pass_all(*state);
    pthread_mutex_unlock(&state->pass_lock);
}

void finish()
{
    const Quiet quiet;
    State* state = process_state.load(std::memory_order_acquire);
    Stage expected = Stage::Running;
    if (state == nullptr || state->pid != getpid() ||
        !state->stage.compare_exchange_strong(expected, Stage::Finishing)) {
        return;
    }
    join_helper(*state);
    const std::uint32_t used = state->used.load();
    for (std::uint32_t i = 0; i < used; ++i) {
        end_slot(*state, state->slots[i]);
    }
    pass(*state);
    close_wake(*state);
    state->stage.store(Stage::Finished);
}

void abandon_in_child()
{
    State* state = process_state.exchange(nullptr);
    own_slot = nullptr;
    own_watch = nullptr;
    forget_timer();
    if (state == nullptr) {
        return;
    }
    // The rings are not mapped in the child, the files belong to the parent: only the descriptors are ours to drop.
    const int saved = errno;
    const std::uint32_t used = state->used.load();
    for (std::uint32_t i = 0; i < used; ++i) {
        Slot& slot = state->slots[i];
        if (slot.state.load() == SlotState::Free) {
            continue;
        }
        drop_event(slot.event);
        close_system_call(slot);
        close_run_delay(slot);
        drop_file(slot.file);
    }
    close_wake(*state);
    errno = saved;
}

int refused()
{
    const State* state = process_state.load(std::memory_order_acquire);
    return state != nullptr ? state->refusal.load() : 0;
}

int replaced()
{
    const State* state = process_state.load(std::memory_order_acquire);
    return state != nullptr && state->refusal.load() == 0 ? state->replaced : 0;
}

bool lost_signal()
{
    const State* state = process_state.load(std::memory_order_acquire);
    return state != nullptr && state->timers_taken.load();
}

bool lost_events()
{
    const State* state = process_state.load(std::memory_order_acquire);
    return state != nullptr && state->events_closed.load();
}

int unwritten()
{
    const State* state = process_state.load(std::memory_order_acquire);
    return state != nullptr ? state->unwritten.load() : 0;
}

int refused_event(std::uint32_t name)
{
    const State* state = process_state.load(std::memory_order_acquire);
    return state != nullptr ? state->choice.refused[name] : 0;
}

}  // namespace critpath::sampling

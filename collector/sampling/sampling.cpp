// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Threads of the application only claim a slot, open their event and mark the slot; everything that takes time
// (draining, files) is done by the helper thread. A slot goes Free -> Claimed -> Active -> Ending -> (Kept ->) Free;
// whoever holds the pass lock moves it onwards from Active, except that a thread marks its own end.
#include "collector/sampling/sampling.hpp"

#include "collector/sampling/perf_event.hpp"
#include "collector/sampling/quiet.hpp"
#include "collector/sampling/sample_file.hpp"
#include "collector/sampling/text.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace critpath::sampling
{
namespace
{

constexpr std::uint32_t max_threads = 4096;  // at the same time

enum class SlotState : std::uint32_t {
    Free,
    Claimed,  // its thread is setting it up
    Active,
    Ending,  // its thread stopped; to be drained
    Kept,    // drained; its samples wait in memory for their file
};

struct Slot {
    std::atomic<SlotState> state;
    int thread;
    std::int64_t tid;
    std::uint64_t start, end;
    int why_not;
    bool ready;  // poll said so; only used by the helper
    bool file_tried;
    PerfEvent event;
    SampleFile file;
    Count count;
};

enum class Stage : std::uint32_t { Running, Finishing, Finished };

using CreateThread = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

/// All of it lies in one anonymous mapping, zeroed by the kernel; pages that no thread needs are never touched.
struct State {
    Config config;
    EventChoice choice;
    CreateThread create_thread;
    pid_t pid;
    std::atomic<Stage> stage;
    std::atomic<int> refusal;
    std::atomic<bool> files_open;
    std::atomic<bool> helper_running;
    pthread_mutex_t pass_lock;  // held while slots are drained; never by a thread whose signals are not blocked
    pthread_t helper;
    std::atomic<int> wake;            // eventfd
    std::atomic<std::uint32_t> used;  // slots from here on were never claimed
    spool::SpoolHeader header;
    char directory[4096];
    pollfd polled[max_threads + 1];
    std::uint32_t polled_slot[max_threads + 1];
    Slot slots[max_threads];
};

std::atomic<State*> process_state{nullptr};
thread_local Slot* own_slot = nullptr;

/// The state while threads may come and go; null when there is nothing to do.
State* running()
{
    State* state = process_state.load(std::memory_order_acquire);
    return state != nullptr && state->stage.load() == Stage::Running ? state : nullptr;
}

std::uint64_t now(const State& state)
{
    timespec time;
    clock_gettime(state.config.clock_id, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void wake_helper(const State& state)
{
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = write(state.wake.load(), &one, sizeof one);
}

spool::SpoolHeader slot_header(const State& state, const Slot& slot)
{
    spool::SpoolHeader header = state.header;
    header.record_size = 0;
    header.thread = slot.thread;
    header.tid = slot.tid;
    header.thread_start = slot.start;
    header.thread_end = slot.end;
    header.samples = {};
    header.samples.why_not = static_cast<std::uint32_t>(slot.why_not);
    if (state.config.frequency != 0 && slot.why_not == 0) {
        Text(header.samples.event, sizeof header.samples.event).add(state.choice.name);
        header.samples.period = state.choice.period;
        header.samples.kernel = state.choice.kernel ? 1 : 0;
        header.samples.counted = slot.count.value;
        header.samples.time_running = slot.count.time_running;
    }
    return header;
}

/// Ends a slot in place of its thread.
void end_slot(const State& state, Slot& slot)
{
    SlotState expected = SlotState::Active;
    if (slot.state.compare_exchange_strong(expected, SlotState::Ending)) {
        disable_event(slot.event);
        slot.end = now(state);
    }
}

// ---- a pass over the slots; the caller holds the pass lock

void drain(Slot& slot, bool all)
{
    if (slot.event.control == nullptr) {
        return;
    }
    // Rings that are far from full wait, so that many threads do not mean many small writes.
    if (!all && !slot.ready && unread_bytes(slot.event) < slot.event.ring_size / 4) {
        return;
    }
    slot.ready = false;
    const Unread unread = peek_records(slot.event);
    append_records(slot.file, unread);
    release_records(slot.event, unread);
}

void open_slot_file(const State& state, Slot& slot)
{
    if (!slot.file_tried && state.files_open.load(std::memory_order_acquire)) {
        slot.file_tried = true;
        open_file(slot.file, state.directory, slot_header(state, slot));
    }
}

void close_slot(const State& state, Slot& slot)
{
    if (slot.event.control != nullptr) {
        disable_event(slot.event);
        drain(slot, true);
        slot.count = read_count(slot.event);
        close_event(slot.event);
    }
    open_slot_file(state, slot);
    if (!slot.file_tried) {
        slot.state.store(SlotState::Kept);
        return;
    }
    spool::SpoolHeader header = slot_header(state, slot);
    close_file(slot.file, header);
    slot.state.store(SlotState::Free, std::memory_order_release);
}

void pass(State& state)
{
    const std::uint32_t used = state.used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) {
        Slot& slot = state.slots[i];
        switch (slot.state.load(std::memory_order_acquire)) {
        case SlotState::Active:
            open_slot_file(state, slot);
            drain(slot, false);
            break;
        case SlotState::Ending:
            close_slot(state, slot);
            break;
        case SlotState::Kept:
            if (state.files_open.load(std::memory_order_acquire)) {
                close_slot(state, slot);
            }
            break;
        case SlotState::Free:
        case SlotState::Claimed:
            break;
        }
    }
}

void locked_pass(State& state)
{
    pthread_mutex_lock(&state.pass_lock);
    pass(state);
    pthread_mutex_unlock(&state.pass_lock);
}

/// The helper thread does it, or the caller where there is no helper because nothing is sampled.
void request_pass(State& state)
{
    if (state.helper_running.load()) {
        wake_helper(state);
    } else {
        locked_pass(state);
    }
}

// ---- the helper thread

void close_wake(State& state)
{
    const int wake = state.wake.exchange(-1);
    if (wake >= 0) {
        close(wake);
    }
}

std::uint32_t collect_polled(State& state)
{
    state.polled[0] = {state.wake.load(), POLLIN, 0};
    std::uint32_t count = 1;
    const std::uint32_t used = state.used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) {
        const Slot& slot = state.slots[i];
        if (slot.state.load(std::memory_order_acquire) == SlotState::Active && slot.event.fd >= 0) {
            state.polled[count] = {slot.event.fd, POLLIN, 0};
            state.polled_slot[count] = i;
            ++count;
        }
    }
    return count;
}

void look_at_polled(State& state, std::uint32_t count)
{
    std::uint64_t ignored;
    if (state.polled[0].revents != 0 && read(state.wake.load(), &ignored, sizeof ignored) < 0 && errno == EBADF) {
        state.wake = -1;  // the application closed what it did not open; poll must not spin on it
    }
    for (std::uint32_t i = 1; i < count; ++i) {
        Slot& slot = state.slots[state.polled_slot[i]];
        const short events = state.polled[i].revents;
        slot.ready = events != 0;
        if ((events & (POLLHUP | POLLERR | POLLNVAL)) != 0) {
            end_slot(state, slot);  // the thread ended without a word, or somebody closed the descriptor
        }
    }
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
        left = slot_state != SlotState::Free && slot_state != SlotState::Kept;
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
        const int patience = state.wake.load() >= 0 ? 1000 : 100;  // ms
        if (poll(state.polled, count, patience) >= 0) {
            look_at_polled(state, count);
        }
        locked_pass(state);
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

// ---- a thread's own steps

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
    slot.why_not = 0;
    slot.ready = false;
    slot.file_tried = false;
    slot.event = {-1, nullptr, 0};
    slot.count = {};
    init_file(slot.file);
}

/// Returns 0 if the thread is going to be sampled, or the reason as an errno.
int open_slot_event(State& state, Slot& slot)
{
    const int refusal = state.refusal.load();
    if (refusal != 0) {
        return refusal;
    }
    int error = open_event(state.choice, slot.event);
    if (error == 0) {
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

}  // namespace

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
    state->wake = -1;
    pthread_mutex_init(&state->pass_lock, nullptr);
    if (config.frequency != 0) {
        state->refusal = choose_event(config.frequency, config.clock_id, state->choice);
        state->create_thread = reinterpret_cast<CreateThread>(dlsym(RTLD_NEXT, "pthread_create"));
        if (state->create_thread == nullptr) {
            state->refusal = EAGAIN;
        }
    }
    process_state.store(state, std::memory_order_release);
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
    slot->why_not = state->config.frequency != 0 ? open_slot_event(*state, *slot) : 0;
    const PerfEvent event = slot->event;
    own_slot = slot;
    slot->state.store(SlotState::Active, std::memory_order_release);
    request_pass(*state);
    if (state->stage.load() != Stage::Running) {  // finish() did not see this slot
        end_slot(*state, *slot);
        locked_pass(*state);
    } else if (event.fd >= 0) {
        enable_event(event);  // last, so that this function is not sampled
    }
}

void stop_thread()
{
    const Quiet quiet;
    Slot* slot = own_slot;
    own_slot = nullptr;
    State* state = running();
    if (slot == nullptr || state == nullptr) {
        return;
    }
    if (slot->event.fd >= 0) {
        disable_event(slot->event);
    }
    slot->end = now(*state);
    SlotState expected = SlotState::Active;
    if (slot->state.compare_exchange_strong(expected, SlotState::Ending)) {
        request_pass(*state);
    }
}

void open_files(const char* spool_directory, const spool::SpoolHeader& header)
{
    const Quiet quiet;
    State* state = running();
    if (state == nullptr || state->files_open.load()) {
        return;
    }
    state->header = header;
    Text(state->directory, sizeof state->directory).add(spool_directory);
    state->files_open.store(true, std::memory_order_release);
    request_pass(*state);
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
    pthread_mutex_lock(&state->pass_lock);
    const bool helped = state->helper_running.load();
    pthread_mutex_unlock(&state->pass_lock);
    if (helped) {
        wake_helper(*state);
        pthread_join(state->helper, nullptr);
        state->helper_running.store(false);
    }
    const std::uint32_t used = state->used.load();
    for (std::uint32_t i = 0; i < used; ++i) {
        end_slot(*state, state->slots[i]);
    }
    locked_pass(*state);
    close_wake(*state);
    state->stage.store(Stage::Finished);
}

void abandon_in_child()
{
    State* state = process_state.exchange(nullptr);
    own_slot = nullptr;
    if (state == nullptr) {
        return;
    }
    // The rings are not mapped in the child, the files belong to the parent: only the descriptors are ours to drop.
    const int saved = errno;
    const std::uint32_t used = state->used.load();
    for (std::uint32_t i = 0; i < used; ++i) {
        const Slot& slot = state->slots[i];
        if (slot.state.load() == SlotState::Free) {
            continue;
        }
        for (const int fd : {slot.event.fd, slot.file.fd}) {
            if (fd > STDERR_FILENO) {
                close(fd);
            }
        }
    }
    close_wake(*state);
    errno = saved;
}

int refused()
{
    const State* state = process_state.load(std::memory_order_acquire);
    return state != nullptr ? state->refusal.load() : 0;
}

}  // namespace critpath::sampling

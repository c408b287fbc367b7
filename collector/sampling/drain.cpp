// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/drain.hpp"

#include "collector/sampling/blocked.hpp"
#include "collector/sampling/deep_stack.hpp"
#include "collector/sampling/file_list.hpp"
#include "collector/sampling/respite.hpp"
#include "collector/sampling/thread_timer.hpp"

#include <cerrno>
#include <cstring>

#include <linux/perf_event.h>

namespace critpath::sampling
{
namespace
{

spool::Refusal refusal_of(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return spool::Refusal::NotPermitted;
    case ENOENT:
    case ENODEV:
    case ENOSYS:
    case EOPNOTSUPP:
        return spool::Refusal::NotSupported;
    case EBUSY:
    case EINVAL:
        return spool::Refusal::TooMany;
    case ENXIO:
        return spool::Refusal::NotByTimers;
    default:
        return spool::Refusal::Failed;
    }
}

/// Timers that stand in for perf_event count nothing because that was refused.
int why_refused(const State& state, std::uint32_t name)
{
    const int error = state.choice.refused[name];
    if (error == 0 && event_names[name].type == PERF_TYPE_HARDWARE &&
        event_names[name].config == PERF_COUNT_HW_CPU_CYCLES) {
        return state.choice.no_cycles;
    }
    return error == ENXIO && state.replaced != 0 ? state.replaced : error;
}

void add_refused_events(const State& state, spool::SpoolHeader& header)
{
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < event_name_count && count < spool::max_events + 1; ++i) {
        const int error = why_refused(state, i);
        if (error != 0) {
            spool::RefusedEvent& refused = header.refused_events[count++];
            std::strncpy(refused.name, event_names[i].name, sizeof refused.name - 1);
            refused.why = refusal_of(error);
        }
    }
}

spool::SpoolHeader& slot_header(State& state, const Slot& slot)
{
    spool::SpoolHeader& header = state.slot_header;
    std::memcpy(&header, &state.header, sizeof header);
    header.record_size = 0;
    header.thread = slot.thread;
    header.tid = slot.tid;
    header.thread_start = slot.start;
    header.thread_end = slot.end;
    std::memcpy(header.thread_name, slot.name, sizeof header.thread_name);
    add_refused_events(state, header);
    header.samples = {};
    header.samples.why_not = static_cast<std::uint32_t>(slot.why_not);
    if (slot.why_not == 0) {
        std::strncpy(header.samples.event, state.choice.name, sizeof header.samples.event - 1);
        header.samples.period = state.choice.period;
        header.samples.own_period = slot.period;
        header.samples.first_period = slot.first_period;
        header.samples.kernel = state.choice.kernel ? 1 : 0;
        header.samples.counted = slot.count.value;
        header.samples.time_running = slot.count.time_running;
        header.samples.page_faults = slot.count.page_faults;
        header.samples.timer_stopped = slot.timer_stopped ? 1 : 0;
        header.samples.registers = state.choice.registers;
        header.samples.stack_bytes = state.choice.stack_bytes;
        header.samples.call_graph = state.choice.call_graph;
        header.samples.precise_ip = state.choice.precise_ip;
        header.samples.run_delay = slot.run_delay.is_told ? 1 : 0;
        header.samples.counted_events = slot.counted_events;
        for (std::uint32_t i = 0; i < state.choice.followers; ++i) {
            std::strncpy(header.samples.events[i], event_names[state.choice.follower[i]].name,
                         sizeof header.samples.events[i] - 1);
        }
    }
    return header;
}

/// Its first sample has come.
void give_own_period(Slot& slot)
{
    if (slot.event.is_in_first_period() && slot.event.is_open() && peek_records(slot.event).samples > 0) {
        end_first_period(slot.event, slot.period);
    }
}

void drain(const State& state, Slot& slot)
{
    give_own_period(slot);
    // Rings that are far from full wait, so that many threads do not mean many small writes.
    if (slot.event.control == nullptr || (!slot.ready && unread_bytes(slot.event) < slot.event.ring_size / 4)) {
        return;
    }
    slot.ready = false;
    take_records(state, slot);
}

void open_slot_file(State& state, Slot& slot)
{
    if (!slot.file_tried && state.files_open.load(std::memory_order_acquire)) {
        slot.file_tried = true;
        open_file(slot.file, state.directory, slot_header(state, slot));
        if (slot.file.error == 0) {
            list_file(state.directory, state.header.rank, slot.thread, "samples");
        }
    }
}

void close_slot(State& state, Slot& slot)
{
    if (slot.event.control != nullptr) {
        disable_event(slot.event);
        end_respite(state, slot);
        keep_records(state, slot);
        keep_run_delay(state, slot);
        slot.count = read_count(slot.event);
        slot.timer_stopped = slot.event.is_timer ? has_stopped(slot.event) : slot.spent;
        close_event(slot.event);
    }
    close_system_call(slot);
    close_run_delay(slot);
    end_deep_stack(slot);
    open_slot_file(state, slot);
    const bool waits_for_finish = is_to_be_found(slot.file) && state.stage.load() == Stage::Running;
    if (!slot.file_tried || waits_for_finish) {
        slot.state.store(SlotState::Kept);
        return;
    }
    if (slot.name[0] == '\0') {
        read_thread_name(slot.tid, slot.name);  // it goes on
    }
    close_file(slot.file, slot_header(state, slot));
    if (slot.file.error != 0) {
        state.unwritten = slot.file.error;
    }
    slot.state.store(slot.spent ? SlotState::Spent : SlotState::Free, std::memory_order_release);
}

/// The caller holds the pass lock.
void visit_slots(State& state)
{
    const std::uint32_t used = state.used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) {
        Slot& slot = state.slots[i];
        switch (slot.state.load(std::memory_order_acquire)) {
        case SlotState::Active:
            open_slot_file(state, slot);
            end_respite(state, slot);
            drain(state, slot);
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
        case SlotState::Spent:
            break;
        }
    }
}

}  // namespace

void end_slot(const State& state, Slot& slot)
{
    SlotState expected = SlotState::Active;
    if (slot.state.compare_exchange_strong(expected, SlotState::Ending)) {
        end_run_delay(state, slot);
        disable_event(slot.event);
        slot.end = now(state);
    }
}

void pass(State& state)
{
    pthread_mutex_lock(&state.pass_lock);
    visit_slots(state);
    pthread_mutex_unlock(&state.pass_lock);
}

void pass_all(State& state)
{
    const std::uint32_t used = state.used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) {
        state.slots[i].ready = true;
    }
    visit_slots(state);
}

}  // namespace critpath::sampling

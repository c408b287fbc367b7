// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/respite.hpp"

#include "collector/sampling/state.hpp"

namespace critpath::sampling
{
namespace
{

using Change = spool::RespiteRecord::Change;

void append(const State& state, Slot& slot, Change change, std::uint64_t time)
{
    const spool::RespiteRecord record = {spool::RespiteRecord::number, change, sizeof record, time};
    append_record(slot.file, state.choice, &record, sizeof record);
}

/// What the thread has left to be written, before what came into the ring since. In the file all times are the
/// kernel's.
void write_notes(const State& state, Slot& slot)
{
    if (slot.rest_end != 0) {
        append(state, slot, Change::Ends, slot.rest_end - state.time_offset);
        slot.rest_end = 0;
    }
    if (slot.rested != 0) {
        append(state, slot, Change::RestedInWaits, slot.rested);
        slot.rested = 0;
    }
}

/// What was lost is taken for what the rest is.
std::uint64_t switches_of(const Unread& unread)
{
    const std::uint64_t switches = unread.records - unread.samples;
    return switches + (unread.records > 0 ? (unread.lost + unread.lost_first) * switches / unread.records : 0);
}

/// Empties the ring; true if the thread has switched too often since it was charged last, and still does. Less than
/// `enough` switches may come close behind each other, and say nothing.
bool charge(const State& state, Slot& slot, std::uint64_t enough)
{
    write_notes(state, slot);
    const Unread unread = move_records(slot.file, state.choice, slot.event);
    slot.switches += switches_of(unread);
    if (slot.switches < enough) {
        return false;
    }
    const std::uint64_t time = now(state);
    const bool too_often = slot.account.charge_switches(slot.switches, slot.charged, time);
    slot.charged = time;
    slot.switches = 0;
    return too_often && time - (unread.last_switch + state.time_offset) < still_switching;
}

void enable(const State& state, Slot& slot, std::uint64_t time)
{
    slot.watch.mode.store(slot.account.debt(time) > 0 ? Mode::Debt : Mode::Plain);
    if (slot.end == 0 && !state.paused) {
        enable_event(slot.event);
    }
}

/// The helper begins a respite, of which the file knows the begin at once.
void begin(const State& state, Slot& slot, Mode mode)
{
    const std::uint32_t wait = slot.watch.waits.load();
    slot.watch.mode.store(mode);
    disable_event(slot.event);
    // The wait may be over by now, and the thread may have looked at the mode before it was set. But then the kernel
    // has interrupted it since, to disable the event, and what it says of its waits can be seen.
    if (mode == Mode::Waiting && (wait % 2 == 0 || slot.watch.waits.load() != wait)) {
        forget_run_delay(slot);
        enable(state, slot, now(state));
        return;
    }
    slot.own_rest = false;
    slot.rest_begin = now(state);
    charge(state, slot, 0);
    append(state, slot, mode == Mode::Waiting ? Change::BeginsInWait : Change::Begins,
           slot.rest_begin - state.time_offset);
}

void end(const State& state, Slot& slot, std::uint64_t time)
{
    if (slot.own_rest) {
        slot.rested += time - slot.rest_begin;
    } else {
        slot.rest_end = time;
        slot.charged = time;
    }
    enable(state, slot, time);
}

/// By the thread, which has a processor.
void end_by_itself(const State& state, Slot& slot, std::uint64_t time)
{
    add_rest(slot, time - slot.rest_begin);
    end(state, slot, time);
}

/// By somebody else.
void end_for_it(const State& state, Slot& slot, std::uint64_t time)
{
    forget_run_delay(slot);
    end(state, slot, time);
}

/// A respite in the wait that there may be; but in debt the thread has had these already, unless it could not begin
/// one.
void switches_too_often(const State& state, Slot& slot, bool in_debt)
{
    if (!slot.watch.missed.exchange(false) && in_debt) {
        slot.account.rest_begins();
        begin(state, slot, Mode::Resting);
    } else if (slot.watch.is_in_wait() && slot.account.charge_respite(now(state))) {
        begin(state, slot, Mode::Waiting);
    } else {
        slot.watch.mode.store(Mode::Debt);
    }
}

/// The thread could not have the pass lock when its wait was over, or what it did was to ask again and again.
bool has_to_be_watched(const Watch& watch)
{
    return !watch.is_in_wait() || watch.asked.load() != 0;
}

bool is_wait_over(Slot& slot, std::uint64_t time)
{
    if (!slot.watch.is_in_wait()) {
        return true;
    }
    if (!has_to_be_watched(slot.watch) || time - slot.looked < between_looks) {
        return false;
    }
    const std::uint32_t before = slot.asked;
    slot.asked = slot.watch.asked.load();
    slot.looked = time;
    return slot.asked == before;
}

}  // namespace

void keep_records(const State& state, Slot& slot)
{
    write_notes(state, slot);
    move_records(slot.file, state.choice, slot.event);
}

void take_records(const State& state, Slot& slot)
{
    const bool in_debt = slot.watch.mode.load() == Mode::Debt && slot.account.debt(now(state)) > 0;
    if (charge(state, slot, enough_switches) && !is_resting(slot) && !state.paused) {
        switches_too_often(state, slot, in_debt || slot.account.relapses > 0);
    }
}

void begin_own_rest(const State& state, Slot& slot)
{
    const std::uint64_t time = now(state);
    if (slot.watch.mode.load() != Mode::Debt || state.paused) {
        return;
    }
    if (slot.account.debt(time) == 0) {
        slot.watch.mode.store(Mode::Plain);
    } else if (slot.account.charge_respite(time)) {
        slot.watch.mode.store(Mode::Waiting);
        disable_event(slot.event);
        slot.own_rest = true;
        slot.rest_begin = time;
    }
}

void end_own_rest(const State& state, Slot& slot)
{
    if (slot.watch.mode.load() == Mode::Waiting) {
        end_by_itself(state, slot, now(state));
    }
}

bool end_rest_early(const State& state, Slot& slot)
{
    const std::uint64_t time = now(state);
    if (slot.watch.mode.load() != Mode::Resting || !slot.account.may_go_on(time) ||
        !slot.account.charge_respite(time)) {
        return false;
    }
    slot.account.went_on = true;
    end_by_itself(state, slot, time);
    return true;
}

void end_respite(const State& state, Slot& slot)
{
    const std::uint64_t thread_end = slot.end;
    const std::uint64_t time = thread_end != 0 ? thread_end : now(state);
    const Mode mode = slot.watch.mode.load();
    if ((mode == Mode::Resting && (thread_end != 0 || slot.account.debt(time) == 0)) ||
        (mode == Mode::Waiting && (thread_end != 0 || is_wait_over(slot, time)))) {
        end_for_it(state, slot, time);
    } else if (mode == Mode::Debt && slot.account.debt(time) == 0) {
        slot.watch.mode.store(Mode::Plain);
    }
}

int until_respite_ends(State& state, int longest)
{
    const std::uint64_t time = now(state);
    std::uint64_t result = static_cast<std::uint64_t>(longest) * ns_per_ms;
    pthread_mutex_lock(&state.pass_lock);
    const std::uint32_t used = state.used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) {
        const Slot& slot = state.slots[i];
        const Mode mode = slot.watch.mode.load();
        if (mode == Mode::Plain || slot.state.load(std::memory_order_acquire) != SlotState::Active) {
            continue;
        }
        // In debt a thread may begin a rest at any moment, and stop asking then.
        const bool is_watched = mode == Mode::Debt || (mode == Mode::Waiting && has_to_be_watched(slot.watch));
        const std::uint64_t left = mode == Mode::Resting ? slot.account.debt(time) : between_looks;
        if (left < result && (mode == Mode::Resting || is_watched)) {
            result = left;
        }
    }
    pthread_mutex_unlock(&state.pass_lock);
    return static_cast<int>((result + ns_per_ms - 1) / ns_per_ms);
}

}  // namespace critpath::sampling

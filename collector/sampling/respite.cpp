// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/respite.hpp"

#include "collector/sampling/state.hpp"

namespace critpath::sampling
{
namespace
{

using Change = spool::RespiteRecord::Change;

/// In the file all times are the kernel's.
void append_change(const State& state, Slot& slot, Change change, std::uint64_t time)
{
    const spool::RespiteRecord record = {spool::RespiteRecord::number, change, sizeof record, time - state.time_offset};
    append_records(slot.file, {{reinterpret_cast<const char*>(&record), nullptr}, {sizeof record, 0}, 0, 1, 0, 0, 0});
}

/// What was lost is taken for what the rest is.
std::uint64_t switches_of(const Unread& unread)
{
    const std::uint64_t switches = unread.records - unread.samples;
    return switches + (unread.records > 0 ? unread.lost * switches / unread.records : 0);
}

/// Empties the ring; true if the thread has switched too often since that was done last.
bool charge(const State& state, Slot& slot, Unread& unread)
{
    unread = move_records(slot.file, slot.event);
    const std::uint64_t time = now(state);
    const bool too_often = slot.account.charge_switches(switches_of(unread), slot.charged, time);
    slot.charged = time;
    return too_often;
}

void begin(const State& state, Slot& slot, Mode mode)
{
    slot.watch.mode.store(mode);  // first: see pause_wait
    disable_event(slot.event);
    Unread ignored;
    charge(state, slot, ignored);
    append_change(state, slot, mode == Mode::Waiting ? Change::BeginsInWait : Change::Begins, now(state));
}

void end_at(const State& state, Slot& slot, std::uint64_t time)
{
    append_change(state, slot, Change::Ends, time);
    slot.watch.mode.store(slot.account.debt(time) > 0 ? Mode::Debt : Mode::Plain);
    slot.charged = time;
    if (slot.end == 0 && !state.paused) {
        enable_event(slot.event);
    }
}

/// Its wait may have ended meanwhile, and without a look at the mode, if it looked before that was set. But then the
/// kernel has interrupted it since, to disable the event, and what it has announced can be seen.
void pause_wait(const State& state, Slot& slot)
{
    begin(state, slot, Mode::Waiting);
    if (slot.watch.wait.load() == 0) {
        end_at(state, slot, now(state));
    }
}

void switches_too_often(const State& state, Slot& slot)
{
    if (slot.watch.wait.load() != 0) {
        pause_wait(state, slot);
    } else if (slot.watch.mode.load() == Mode::Plain) {
        slot.watch.mode.store(Mode::Debt);
    } else {
        begin(state, slot, Mode::Resting);
    }
}

}  // namespace

void take_records(const State& state, Slot& slot)
{
    if (slot.watch.mode.load() == Mode::Debt && slot.account.debt(now(state)) == 0) {
        slot.watch.mode.store(Mode::Plain);
    }
    Unread unread;
    const bool too_often = charge(state, slot, unread);
    const bool goes_on = slot.charged - (unread.last_switch + state.time_offset) < still_switching;
    if (too_often && goes_on && !is_resting(slot)) {
        switches_too_often(state, slot);
    }
}

void rest_in_wait(const State& state, Slot& slot)
{
    if (slot.watch.mode.load() != Mode::Debt) {
        return;
    }
    const std::uint64_t time = now(state);
    if (slot.account.debt(time) == 0) {
        slot.watch.mode.store(Mode::Plain);
    } else {
        begin(state, slot, slot.account.charge_respite(time) ? Mode::Waiting : Mode::Resting);
    }
}

void end_rest_in_wait(const State& state, Slot& slot)
{
    if (slot.watch.mode.load() == Mode::Waiting) {
        end_at(state, slot, now(state));
    }
}

bool end_rest_early(const State& state, Slot& slot)
{
    const std::uint64_t time = now(state);
    if (slot.watch.mode.load() != Mode::Resting || !slot.account.is_ready_for_waits(time)) {
        return false;
    }
    slot.account.charge_respite(time);
    end_at(state, slot, time);
    return true;
}

void end_respite(const State& state, Slot& slot)
{
    if (!is_resting(slot)) {
        return;
    }
    const std::uint64_t end = slot.end;
    const std::uint64_t time = end != 0 ? end : now(state);
    if (end != 0 || (slot.watch.mode.load() == Mode::Resting && slot.account.debt(time) == 0)) {
        end_at(state, slot, time);
    }
}

int until_respite_ends(State& state, int longest)
{
    constexpr std::uint64_t ns_per_ms = 1'000'000;
    const std::uint64_t time = now(state);
    std::uint64_t result = static_cast<std::uint64_t>(longest) * ns_per_ms;
    pthread_mutex_lock(&state.pass_lock);
    const std::uint32_t used = state.used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) {
        const Slot& slot = state.slots[i];
        if (slot.watch.mode.load() == Mode::Resting &&
            slot.state.load(std::memory_order_acquire) == SlotState::Active) {
            const std::uint64_t left = slot.account.debt(time);
            result = left < result ? left : result;
        }
    }
    pthread_mutex_unlock(&state.pass_lock);
    return static_cast<int>((result + ns_per_ms - 1) / ns_per_ms);
}

}  // namespace critpath::sampling

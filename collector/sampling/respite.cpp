// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/respite.hpp"

#include "collector/sampling/state.hpp"

namespace critpath::sampling
{
namespace
{

/// In the file all times are the kernel's.
void append_change(const State& state, Slot& slot, bool begins, std::uint64_t time)
{
    const spool::RespiteRecord record = {spool::RespiteRecord::number, static_cast<std::uint16_t>(begins ? 1 : 0),
                                         sizeof record, time - state.time_offset};
    append_records(slot.file, {{reinterpret_cast<const char*>(&record), nullptr}, {sizeof record, 0}, 0, 1, 0, 0, 0});
}

void end_at(const State& state, Slot& slot, std::uint64_t time)
{
    append_change(state, slot, false, time);
    slot.respite_end.store(0, std::memory_order_relaxed);
    slot.active_since = time;
    if (slot.end == 0 && !state.paused) {
        enable_event(slot.event);
    }
}

}  // namespace

void begin_respite(const State& state, Slot& slot, std::uint64_t duration)
{
    disable_event(slot.event);
    move_records(slot.file, slot.event);
    const std::uint64_t begin = now(state);
    append_change(state, slot, true, begin);
    slot.respite_end.store(begin + duration, std::memory_order_relaxed);
}

void end_respite(const State& state, Slot& slot)
{
    const std::uint64_t end = slot.respite_end.load(std::memory_order_relaxed);
    if (end == 0) {
        return;
    }
    const std::uint64_t time = slot.end != 0 ? slot.end : now(state);
    if (slot.end != 0 || time >= end) {
        end_at(state, slot, time);
    }
}

void end_respite_early(const State& state, Slot& slot)
{
    const std::uint64_t time = now(state);
    if (slot.respite_end.load(std::memory_order_relaxed) != 0 && time - slot.early_end >= between_early_ends) {
        slot.early_end = time;
        end_at(state, slot, time);
    }
}

int until_respite_ends(const State& state, int longest)
{
    constexpr std::uint64_t ns_per_ms = 1'000'000;
    const std::uint64_t time = now(state);
    std::uint64_t result = static_cast<std::uint64_t>(longest) * ns_per_ms;
    const std::uint32_t used = state.used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < used; ++i) {
        const Slot& slot = state.slots[i];
        const std::uint64_t end = slot.respite_end.load(std::memory_order_relaxed);
        if (end != 0 && slot.state.load(std::memory_order_acquire) == SlotState::Active) {
            const std::uint64_t left = end > time ? end - time : 0;
            result = left < result ? left : result;
        }
    }
    return static_cast<int>((result + ns_per_ms - 1) / ns_per_ms);
}

}  // namespace critpath::sampling

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the respites of a thread: its events are disabled for a while when it switches so often that recording the
// switches, and stopping and starting the timer at each, would slow it down. Ranks do so that share a processor and
// give way while they wait. All of this is called under the pass lock.
#pragma once

#include <cstdint>

namespace critpath::sampling
{

struct State;
struct Slot;

inline constexpr std::uint64_t ns_a_switch_record = 2'500;       // what one costs; bench/switch_cost
inline constexpr std::uint64_t part_for_switches = 50;           // of the time: one such part
inline constexpr std::uint64_t longest_respite = 100'000'000;    // ns
inline constexpr std::uint64_t still_switching = 2'000'000;      // ns since the last switch, at most
inline constexpr std::uint64_t between_early_ends = 50'000'000;  // ns, at least

/// How long the respite shall be, in ns, after `active` ns with so many records of switches; 0: it needs none.
constexpr std::uint64_t respite_after(std::uint64_t records, std::uint64_t active)
{
    const std::uint64_t needed = records * ns_a_switch_record * part_for_switches;
    return needed <= active ? 0 : needed - active < longest_respite ? needed - active : longest_respite;
}

/// Disables the events for `duration` ns; what is in the ring goes to the file.
void begin_respite(const State& state, Slot& slot, std::uint64_t duration);

/// Enables them again, unless recording pauses, when the time has come, or if the thread ends.
void end_respite(const State& state, Slot& slot);

/// Enables them again now, if that was not done too shortly before.
void end_respite_early(const State& state, Slot& slot);

/// ms until the first respite ends, at most `longest`.
int until_respite_ends(const State& state, int longest);

}  // namespace critpath::sampling

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what happens to a thread that switches so often that recording the switches, and stopping and starting the timer
// at each, would slow it down. Ranks do so that share a processor and give way while they wait. What that costs stands
// on an account of the thread, which pays with a fiftieth of the time. In debt it gets respites: its events are
// disabled
//   - while it waits (wait_begins) and gives way: what it computes is recorded in full, and so is the time that it is
//   off
//     the processor there;
//   - where that does not help, because it switches elsewhere, or goes from wait to wait: for a while.
// All of this is called under the pass lock, where nothing else is said.
#pragma once

#include <cstdint>

namespace critpath::sampling
{

struct State;
struct Slot;
struct Unread;

inline constexpr std::uint64_t ns_a_switch_record = 2'500;  // what one costs; bench/switch_cost
inline constexpr std::uint64_t ns_a_respite = 9'000;        // likewise: twice "off and on", for its records in the file
inline constexpr std::uint64_t part_for_switches = 50;      // of the time: one such part
inline constexpr std::uint64_t longest_respite = 300'000'000;  // ns; what switches can owe at most
inline constexpr std::uint64_t longest_debt = 450'000'000;     // ns; with what respites in waits owe
inline constexpr std::uint64_t still_switching = 2'000'000;    // ns since the last switch, at most

/// The account of a thread: until when the time goes to pay for what there was. All times are ns of one clock.
struct Account {
    std::uint64_t paid_until;

    [[nodiscard]] constexpr std::uint64_t debt(std::uint64_t now) const
    {
        return paid_until > now ? paid_until - now : 0;
    }

    /// For so many records of switches since `since`. True if they alone were too many.
    constexpr bool charge_switches(std::uint64_t records, std::uint64_t since, std::uint64_t now)
    {
        const std::uint64_t needed = records * ns_a_switch_record * part_for_switches;
        const std::uint64_t begin = paid_until > since ? paid_until : since;
        const std::uint64_t most = now + longest_respite > paid_until ? now + longest_respite : paid_until;
        paid_until = begin + needed < most ? begin + needed : most;
        return needed > now - since;
    }

    /// For a respite in a wait; false if the thread cannot afford it.
    constexpr bool charge_respite(std::uint64_t now)
    {
        constexpr std::uint64_t needed = ns_a_respite * part_for_switches;
        if (debt(now) + needed > longest_debt) {
            return false;
        }
        paid_until = (paid_until > now ? paid_until : now) + needed;
        return true;
    }

    /// There is room for many respites in waits.
    [[nodiscard]] constexpr bool is_ready_for_waits(std::uint64_t now) const
    {
        return debt(now) <= (longest_respite + longest_debt) / 2;
    }
};

/// Moves what is in the ring to the file, and charges the thread for it, which may begin a respite.
void take_records(const State& state, Slot& slot);

/// The thread itself, in debt: it is going to wait.
void rest_in_wait(const State& state, Slot& slot);

/// The thread itself, in a respite: it goes on.
void end_rest_in_wait(const State& state, Slot& slot);

/// The thread itself, in a respite for a while: it goes on after a wait. False if it rests on.
bool end_rest_early(const State& state, Slot& slot);

/// Ends a respite whose time has come, or that of a thread that ends.
void end_respite(const State& state, Slot& slot);

/// ms until the first respite ends, at most `longest`. The caller does not hold the pass lock.
int until_respite_ends(State& state, int longest);

}  // namespace critpath::sampling

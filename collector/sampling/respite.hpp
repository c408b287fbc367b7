// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what happens to a thread that switches so often that recording the switches, and stopping and starting the timer
// at each, would slow it down. Ranks do so that share a processor and give way while they wait. What that costs stands
// on an account of the thread, which pays with a fiftieth of the time. In debt it gets respites: its events are
// disabled
//   - while it waits and gives way again and again (Watch): what it computes is recorded in full, and so is the time
//     without a processor there;
//   - where that does not help, because it switches elsewhere, or goes from one short wait to the next: for a while.
// All of this is called under the pass lock, where nothing else is said. Only the helper writes to the file: threads
// leave behind what it is to write there.
#pragma once

#include <cstdint>

namespace critpath::sampling
{

struct State;
struct Slot;

inline constexpr std::uint64_t ns_a_switch_record = 2'500;  // what one costs; bench/switch_cost
inline constexpr std::uint64_t ns_a_respite = 7'000;        // likewise: "off and on", and half as much for the rest
inline constexpr std::uint64_t part_for_switches = 50;      // of the time: one such part
inline constexpr std::uint64_t most_for_switches = 300'000'000;  // ns; more they cannot owe at first,
inline constexpr std::uint64_t most_debt = 450'000'000;          // and respites in waits not more than this with them
inline constexpr std::uint64_t enough_switches = 300;            // records: so many say whether they are too often
inline constexpr std::uint64_t still_switching = 2'000'000;      // ns since the last switch, at most
inline constexpr std::uint64_t between_looks = 10'000'000;       // ns; at respites in waits that may be over

/// The account of a thread: until when the time goes to pay for what there was. All times are ns of one clock.
struct Account {
    std::uint64_t paid_until;
    std::uint32_t relapses = 0;  // since there was no debt for long: respites that were ended early, and needed again
    bool went_on = false;        // the last one was ended early

    [[nodiscard]] constexpr std::uint64_t debt(std::uint64_t now) const
    {
        return paid_until > now ? paid_until - now : 0;
    }

    /// For so many records of switches since `since`. True if they alone were too many.
    constexpr bool charge_switches(std::uint64_t records, std::uint64_t since, std::uint64_t now)
    {
        forget_relapses(now);
        const std::uint64_t needed = records * ns_a_switch_record * part_for_switches;
        const std::uint64_t begin = paid_until > since ? paid_until : since;
        const std::uint64_t bound = now + (most_for_switches << relapses);
        const std::uint64_t most = bound > paid_until ? bound : paid_until;
        paid_until = begin + needed < most ? begin + needed : most;
        return now < since || needed > now - since;
    }

    /// For a respite in a wait; false if the thread cannot afford it.
    constexpr bool charge_respite(std::uint64_t now)
    {
        forget_relapses(now);
        constexpr std::uint64_t needed = ns_a_respite * part_for_switches;
        if (debt(now) + needed > most_debt) {
            return false;
        }
        paid_until = (paid_until > now ? paid_until : now) + needed;
        return true;
    }

    /// The helper begins a respite for a while.
    constexpr void rest_begins()
    {
        constexpr std::uint32_t most_relapses = 3;
        relapses += went_on && relapses < most_relapses ? 1 : 0;
        went_on = false;
    }

    /// A respite for a while may end before it is paid for: there is room for many in waits. Each time that the thread
    /// then needs one again soon, there has to be four times the room, and it may owe twice as much: who waits for long
    /// now and then would never pay for its short waits, nor where the helper comes so late that most of it is
    /// forgotten.
    [[nodiscard]] constexpr bool may_go_on(std::uint64_t now) const
    {
        return debt(now) <= (most_for_switches + most_debt) / 2 >> 2 * relapses;
    }

    constexpr void forget_relapses(std::uint64_t now)
    {
        if (now > paid_until + most_for_switches) {
            relapses = 0;
            went_on = false;
        }
    }
};

/// The helper: moves what is in the ring to the file, and charges the thread for it, which may begin a respite.
void take_records(const State& state, Slot& slot);

/// The helper: only moves them.
void keep_records(const State& state, Slot& slot);

/// The thread itself, in debt: it gives way again and again in a wait.
void begin_own_rest(const State& state, Slot& slot);

/// The thread itself, whose wait was a respite: it goes on.
void end_own_rest(const State& state, Slot& slot);

/// The thread itself, in a respite for a while: it goes on after a wait. False if it rests on.
bool end_rest_early(const State& state, Slot& slot);

/// The helper: ends a respite whose time has come, whose wait is over, or that of a thread that ends.
void end_respite(const State& state, Slot& slot);

/// ms until end_respite may have to do something, at most `longest`. The caller does not hold the pass lock.
int until_respite_ends(State& state, int longest);

}  // namespace critpath::sampling

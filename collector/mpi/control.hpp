// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is recorded at a moment: the groups of functions that the user asked for, and whether recording is on
// (MPI_Pcontrol, a range of collectives). What is not recorded still goes through the wrappers, so that requests,
// communicators, windows and files keep their ids and numbers: its Call drops the records. A stretch that was off
// becomes one Off record of each thread that calls MPI afterwards.
#pragma once

#include "collector/mpi/process.hpp"
#include "formats/functions/functions.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdint>

namespace critpath::preload
{

struct Thread;

/// Bits beside those of functions::Group.
inline constexpr std::uint32_t life_cycle_bit = 1U << 31;  // what begins and ends the recording: also while it is off
inline constexpr std::uint32_t completion_bit = 1U << 30;  // of requests, whatever group they are of

/// What Control::includes is asked for a function.
constexpr std::uint32_t group_bit(functions::FunctionId function)
{
    using enum functions::SemanticClass;
    const functions::SemanticClass what = functions::info(function).semantic_class;
    switch (what) {
    case Init:
    case Finalize:
    case Abort:
        return life_cycle_bit;
    case Wait:
    case Waitall:
    case Waitany:
    case Waitsome:
    case Test:
    case Testall:
    case Testany:
    case Testsome:
    case RequestGetStatus:
        return completion_bit;
    default:
        return 1U << static_cast<unsigned>(functions::group_of(what));
    }
}

class Control
{
public:
    /// When the recording begins. Later settings are not looked at.
    void start(const Settings& settings);

    /// Is a function with this group_bit recorded now?
    [[nodiscard]] bool includes(std::uint32_t bit) const
    {
        return (groups_.load(std::memory_order_acquire) & bit) != 0;
    }

    /// Is it, whenever recording is on?
    [[nodiscard]] bool asks_for(std::uint32_t bit) const { return (included_ & bit) != 0; }

    /// Number of times that recording went on or off; odd while it is off.
    [[nodiscard]] std::uint32_t switches() const { return switches_.load(std::memory_order_acquire); }

    /// Writes the Off records that `thread`, the calling one, has not written yet. A stretch that lasts is written
    /// up to `now` if `close` is set, otherwise when it is over.
    void catch_up(Thread& thread, bool close);

    /// A call of `thread` from `enter` on is recorded although recording was off: writes what came before it as off.
    void interrupt(Thread& thread, std::uint64_t enter);

    /// A call from `enter` on will be recorded, but recording has gone on or off since it was looked at: it may lie
    /// where recording is off. What another thread posts after it and does not record must not come before it.
    void recorded_late(std::uint64_t enter);

    /// Of a call of `thread` that is not recorded: since when nothing is recorded, as far as is known; 0 if it is not
    /// for that, but because functions with this group_bit are never recorded.
    [[nodiscard]] std::uint64_t off_since(const Thread& thread, std::uint32_t bit) const;

    /// MPI_Pcontrol(level) was called: 0 is off, 1 is on, others mean nothing to us.
    void apply_level(int level);

    /// A blocking collective on `comm` has ended successfully at `leave`. Identical on all ranks: only those count that
    /// are called by all of them and synchronise them.
    void count_collective(functions::FunctionId function, MPI_Comm comm, std::uint64_t leave)
    {
        if (counts_collectives_) [[unlikely]] {
            count(function, comm, leave);
        }
    }

private:
    struct Stretch {
        std::uint64_t begin, end;   // ns; `end` is written when it is over
        std::uint64_t off_for_all;  // ns: whoever is recorded and entered later has seen it, or says so (recorded_late)
    };
    static constexpr std::uint32_t remembered = 64;  // stretches; a thread that comes later has missed the older ones

    static std::uint32_t first_unwritten(const Thread& thread, std::uint32_t over);

    void count(functions::FunctionId function, MPI_Comm comm, std::uint64_t leave);
    bool update(std::uint64_t time);  // true if that switched
    void switch_sampling() const;
    [[nodiscard]] bool is_on() const { return wanted_by_level_ && wanted_by_range_; }

    std::atomic<std::uint32_t> groups_ = ~0U;
    std::atomic<std::uint32_t> switches_ = 0;
    std::uint32_t included_ = ~0U;  // while on
    bool counts_collectives_ = false;
    bool wanted_by_level_ = true;
    bool wanted_by_range_ = true;
    std::uint64_t collectives_ = 0;
    std::uint64_t range_begin_ = 0;
    std::uint64_t range_end_ = ~0ULL;
    Stretch stretches_[remembered] = {};
    std::atomic<std::uint64_t> late_enter_ = 0;  // ns; the last that was recorded_late
};
extern Control control;

}  // namespace critpath::preload

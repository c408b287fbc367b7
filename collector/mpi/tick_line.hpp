// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how counts of a processor's ticks become ns of another clock: along a straight line, for a while. Two readings
// of both, which are far apart for their error, give its slope; the line is laid anew through every later reading, but
// never so that time goes back.
#pragma once

#include <cstdint>

namespace critpath::preload
{

/// A moment on both clocks.
struct TickReading {
    std::uint64_t ticks = 0;
    std::uint64_t time = 0;
};

class TickLine
{
    __extension__ using Wide = unsigned __int128;

public:
    [[nodiscard]] bool covers(std::uint64_t ticks) const { return ticks - start_.ticks < length_; }

    /// `ticks` is covered.
    [[nodiscard]] std::uint64_t at(std::uint64_t ticks) const
    {
        return start_time_ + ((ticks - start_.ticks) * rate_ >> shift);
    }

    /// From `reading` on, with the mean rate since the first reading, for as many ticks as lie between them: at its end
    /// the line is wrong by no more than the first reading and twice this one are. Returns the time to be given for the
    /// reading, which is not before what the line gave until then. Where only one of the two clocks has gone on, as
    /// when a computer sleeps, what was before says nothing about the rate any more: the reading is the first.
    std::uint64_t lay(const TickReading& reading)
    {
        const std::uint64_t reached = at(covers(reading.ticks) ? reading.ticks : start_.ticks + length_);
        const TickReading base = start_time_ == 0 || is_off(reading) ? reading : base_;
        const std::uint64_t time = reading.time < reached ? reached : reading.time;
        const std::uint64_t known = reading.ticks - base.ticks;
        const std::uint64_t length = known < longest ? known : longest;
        // A signal handler may come in between, ask for the time itself, or jump and never come back.
        length_ = 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        base_ = base;
        start_ = reading;
        start_time_ = time;
        if (length != 0) {
            rate_ = rate(reading.time - base.time, known, highest_rate);
            // What the line is ahead is lost again on its way, but time does not stand still.
            rate_ -= rate(time - reading.time, length, rate_ / 2);
        }
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        length_ = length;
        return time;
    }

    static constexpr std::uint64_t longest = std::uint64_t{1} << 28;  // ticks; about 0.1 s

private:
    // The rate until the last reading does not lead to this one, by far more than readings are wrong.
    [[nodiscard]] bool is_off(const TickReading& reading) const
    {
        constexpr std::uint64_t interrupted = 10'000;  // ns
        const std::uint64_t before = start_.ticks - base_.ticks;
        if (reading.ticks < start_.ticks || reading.time < start_.time) {
            return true;
        }
        if (before == 0) {
            return false;
        }
        const Wide known = reading.ticks - base_.ticks;
        const Wide expected = (start_.time - base_.time) * known / before;
        const Wide passed = reading.time - base_.time;
        return (passed < expected ? expected - passed : passed - expected) > interrupted + interrupted * known / before;
    }

    static std::uint64_t rate(std::uint64_t time, std::uint64_t ticks, std::uint64_t most)
    {
        const Wide rate = (static_cast<Wide>(time) << shift) / ticks;
        return rate < most ? static_cast<std::uint64_t>(rate) : most;
    }

    static constexpr unsigned shift = 32;
    static constexpr std::uint64_t highest_rate = std::uint64_t{8} << shift;  // no processor counts as slowly

    TickReading base_;
    TickReading start_;             // the last reading,
    std::uint64_t start_time_ = 0;  // and the time that was given for it
    std::uint64_t length_ = 0;      // ticks
    std::uint64_t rate_ = 0;        // ns a tick, of 2^32
};

}  // namespace critpath::preload

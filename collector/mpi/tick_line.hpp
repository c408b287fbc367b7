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

/// A moment on both clocks. `doubt`: ticks that may lie between the two.
struct TickReading {
    std::uint64_t ticks = 0;
    std::uint64_t time = 0;
    std::uint64_t doubt = 0;
};

class TickLine
{
    __extension__ using Wide = unsigned __int128;

public:
    [[nodiscard]] bool covers(std::uint64_t ticks) const { return ticks - ticks_ < length_; }

    /// `ticks` is covered.
    [[nodiscard]] std::uint64_t at(std::uint64_t ticks) const { return time_ + ((ticks - ticks_) * rate_ >> shift); }

    /// From `reading` on, with the mean rate since `first`, for as many ticks as lie between them: at its end the line
    /// is wrong by no more than `first` and twice `reading` are. Returns the time to be given for the reading, which is
    /// not before what the line gave until then. Where only one of the two has gone on, as when a computer sleeps, what
    /// was before says nothing about their rate any more, and the line begins anew.
    std::uint64_t lay(const TickReading& first, const TickReading& reading)
    {
        const std::uint64_t reached = at(reading.ticks - ticks_ < length_ ? reading.ticks : ticks_ + length_);
        if (rate_ == 0) {
            base_ = first;
        } else if (is_off(reading)) {
            base_ = reading;
        }
        const std::uint64_t known = reading.ticks - base_.ticks;
        ticks_ = reading.ticks;
        time_ = reading.time < reached ? reached : reading.time;
        length_ = known < longest ? known : longest;
        if (length_ != 0) {
            rate_ = rate(reading.time - base_.time, known, highest_rate);
            // What the line is ahead is lost again on its way, but time does not stand still.
            rate_ -= rate(time_ - reading.time, length_, rate_ / 2);
        }
        return time_;
    }

    static constexpr std::uint64_t longest = std::uint64_t{1} << 28;  // ticks; about 0.1 s

private:
    // Ticks and time since the base do not fit the rate, by far more than readings are wrong.
    [[nodiscard]] bool is_off(const TickReading& reading) const
    {
        constexpr Wide interrupted = 10'000;  // ns
        const Wide passed = reading.time - base_.time;
        const Wide expected = static_cast<Wide>(reading.ticks - base_.ticks) * rate_ >> shift;
        return (passed < expected ? expected - passed : passed - expected) > interrupted + passed / 1000;
    }

    static std::uint64_t rate(std::uint64_t time, std::uint64_t ticks, std::uint64_t most)
    {
        const Wide rate = (static_cast<Wide>(time) << shift) / ticks;
        return rate < most ? static_cast<std::uint64_t>(rate) : most;
    }

    static constexpr unsigned shift = 32;
    static constexpr std::uint64_t highest_rate = std::uint64_t{8} << shift;  // no processor counts as slowly

    TickReading base_;
    std::uint64_t ticks_ = 0;
    std::uint64_t time_ = 0;
    std::uint64_t length_ = 0;
    std::uint64_t rate_ = 0;  // ns a tick, of 2^32
};

}  // namespace critpath::preload

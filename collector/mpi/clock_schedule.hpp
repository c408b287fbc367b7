// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns when a long run compares its clocks again. All ranks must do it at the same collective, though their clocks
// differ: they count the collectives that all of them take part in, and at some of these counts they agree on the
// time. What was agreed tells all of them the same next count. (docs/ALGORITHM, "Clocks")
#pragma once

#include <algorithm>
#include <cstdint>

namespace critpath::preload
{

class ClockSchedule
{
public:
    /// `first`, `period`: ns until the first comparison and between two; equal on all ranks.
    constexpr ClockSchedule(std::uint64_t first, std::uint64_t period) : due_(first), period_(period) {}
    constexpr ClockSchedule() : ClockSchedule(0, 0) {}

    /// A collective of all ranks has ended. True if they are to agree on the elapsed time now.
    bool count() { return ++count_ == next_; }

    /// What they agreed on, in ns. True if the clocks are to be compared now. Sets the next count to agree at: about a
    /// second later at the pace since the last one, soon enough if the program slows down (4096 collectives cost far
    /// more than one agreement), and not beyond twice the count, since the beginning is no example.
    bool agree(std::uint64_t elapsed)
    {
        const std::uint64_t collectives = count_ - agreed_count_;
        const std::uint64_t time = std::max<std::uint64_t>(elapsed - std::min(elapsed, agreed_elapsed_), 1);
        const std::uint64_t pace = collectives >= UINT64_MAX / second ? most_step : collectives * second / time;
        next_ = count_ + std::clamp<std::uint64_t>(pace, 1, std::min(count_, most_step));
        agreed_count_ = count_;
        agreed_elapsed_ = elapsed;
        if (elapsed < due_) {
            return false;
        }
        due_ = elapsed + period_;
        return true;
    }

    [[nodiscard]] std::uint64_t next() const { return next_; }

private:
    static constexpr std::uint64_t second = 1'000'000'000;
    static constexpr std::uint64_t most_step = 4096;

    std::uint64_t due_;
    std::uint64_t period_;
    std::uint64_t count_ = 0;
    std::uint64_t next_ = 1;
    std::uint64_t agreed_count_ = 0;
    std::uint64_t agreed_elapsed_ = 0;
};

}  // namespace critpath::preload

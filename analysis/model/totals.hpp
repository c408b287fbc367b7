// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the times of all ranks, and of each one, on and off the path, by equal parts of the run: what is known of them
// is as much whatever the length of the run, and enough to compare the path with them in a part of it.
#pragma once

#include "analysis/model/ids.hpp"

#include <array>
#include <cstdint>

namespace critpath::model
{

/// The equal parts of a run, in ns since its first moment.
class TimeSlots
{
public:
    static constexpr std::uint32_t number = 1000;

    explicit TimeSlots(std::int64_t makespan_ns)
    {
        for (std::uint32_t slot = 0; slot <= number; ++slot)
            begins_[slot] = static_cast<std::int64_t>(Wide{makespan_ns} * slot / number);
    }

    [[nodiscard]] std::int64_t begin(std::uint32_t slot) const { return begins_[slot]; }
    [[nodiscard]] std::int64_t end(std::uint32_t slot) const { return begins_[slot + 1]; }

    /// That `time` lies in; of one that is outside of the run, the first or the last.
    [[nodiscard]] std::uint32_t at(std::int64_t time) const
    {
        if (time <= 0)
            return 0;
        const std::int64_t makespan = begins_.back();
        if (time >= makespan)
            return number - 1;
        auto slot = static_cast<std::uint32_t>(Wide{time} * number / makespan);
        while (slot + 1 < number && end(slot) <= time)  // of short runs, begins are rounded
            ++slot;
        return slot;
    }

private:
    __extension__ using Wide = __int128;

    std::array<std::int64_t, number + 1> begins_;  // and the end of the last one
};

/// One record of totals.bin (formats/FORMAT.md): 40 bytes, little endian. Sorted by (slot, call path), unique.
struct TotalPart {
    std::uint32_t slot;       // TimeSlots
    std::uint32_t call_path;  // CallPathId; none(): of all threads, between their calls
    std::int64_t ns;          // as CallPathTime
    std::uint64_t samples;
    std::int64_t other_threads_ns;
    std::int64_t in_calls_ns;
};
static_assert(sizeof(TotalPart) == 40);

/// One record of computed.bin: 808 bytes, little endian. Sorted by location, unique.
struct ComputedParts {
    static constexpr std::uint32_t number = 100;  // fewer, since there are as many records as threads
    static constexpr std::uint32_t slots = TimeSlots::number / number;  // in each part
    static_assert(TimeSlots::number % number == 0);

    std::uint32_t location;  // LocationId
    std::uint32_t zero;
    std::array<std::int64_t, number> ns;  // as Profile::computed_ns
};
static_assert(sizeof(ComputedParts) == 808);

}  // namespace critpath::model

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the conversion of clock ticks to nanoseconds.
#pragma once

#include "analysis/model/ids.hpp"
#include "formats/otf2/clock_correction.hpp"
#include "formats/otf2/time_range.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace critpath::replayer::load
{

inline constexpr std::int64_t farthest_time = otf2::farthest_time;
inline constexpr auto farthest_ticks = static_cast<std::uint64_t>(farthest_time);

/// Ticks to ns, rounded down, so that the order of events never changes. A clock of 1e9 ticks a second is the identity.
class TickClock
{
public:
    TickClock() = default;
    explicit TickClock(std::uint64_t ticks_per_second) : ticks_per_second_(static_cast<std::int64_t>(ticks_per_second))
    {
    }

    /// `ticks` may be negative: before the clock that all locations share began to run.
    [[nodiscard]] model::Ns to_ns(std::int64_t ticks) const
    {
        if (ticks_per_second_ == ns_per_second) {
            return model::Ns{ticks};
        }
        __extension__ using Wide = __int128;  // ticks * 1e9 exceeds 64 bits within seconds
        const Wide product = Wide{ticks} * ns_per_second;
        const Wide ns = product / ticks_per_second_ - (product % ticks_per_second_ < 0 ? 1 : 0);
        return model::Ns{static_cast<std::int64_t>(std::clamp<Wide>(ns, -farthest_time, farthest_time))};
    }
    [[nodiscard]] model::Ns to_ns(std::uint64_t ticks) const { return to_ns(static_cast<std::int64_t>(ticks)); }

private:
    static constexpr std::int64_t ns_per_second = 1'000'000'000;
    std::int64_t ticks_per_second_ = ns_per_second;
};

/// The clock of one location: its ticks to ns of the clock that all locations share.
class LocationClock
{
public:
    LocationClock() = default;
    LocationClock(TickClock ticks, otf2::ClockCorrection correction) : ticks_(ticks), correction_(std::move(correction))
    {
    }

    [[nodiscard]] model::Ns to_ns(std::uint64_t ticks) const { return ticks_.to_ns(correction_.to_shared(ticks)); }

    /// The largest error of to_ns from `begin` to `end`.
    [[nodiscard]] model::Ns uncertainty(std::uint64_t begin, std::uint64_t end) const
    {
        return ticks_.to_ns(correction_.largest_uncertainty(begin, end));
    }

    [[nodiscard]] const otf2::ClockCorrection& correction() const { return correction_; }

private:
    TickClock ticks_;
    otf2::ClockCorrection correction_;
};

}  // namespace critpath::replayer::load

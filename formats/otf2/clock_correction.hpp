// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the timestamps of a location become times of the clock that all locations share, and how far off these may
// be. (docs/ALGORITHM, "Clocks"; OTF2 definition ClockOffset)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::otf2
{

/// At `time` on the location's clock, the shared clock minus it was within offset - half_width .. offset + half_width.
/// All in ticks.
struct ClockPoint {
    std::uint64_t time = 0;
    std::int64_t offset = 0;
    std::int64_t half_width = 0;
};

/// The smallest such point around [low, high].
ClockPoint point_around(std::uint64_t time, std::int64_t low, std::int64_t high);

/// In ticks; no two clocks differ by more (at 1e9 ticks a second 73 years). Offsets and half widths are within it,
/// times within the double of it.
inline constexpr std::int64_t largest_clock_offset = std::int64_t{1} << 61;

/// Between two points the offset changes linearly; all in integers, so that the order of times never changes. Beyond
/// the first and the last point it goes on changing at that rate, unless the points are too close together to tell it.
/// Without a point the location has the shared clock.
class ClockCorrection
{
public:
    ClockCorrection() = default;
    /// In any order. Points that would turn time back are left out.
    explicit ClockCorrection(std::vector<ClockPoint> points);

    [[nodiscard]] std::int64_t to_shared(std::uint64_t time) const
    {
        return is_shift_ ? static_cast<std::int64_t>(time) + shift_ : corrected(time);
    }

    /// The largest error that to_shared(time) may have, in ticks.
    [[nodiscard]] std::int64_t uncertainty(std::uint64_t time) const;

    /// The largest one from `begin` to `end`.
    [[nodiscard]] std::int64_t largest_uncertainty(std::uint64_t begin, std::uint64_t end) const;

    [[nodiscard]] bool is_identity() const { return points_.empty(); }
    [[nodiscard]] const std::vector<ClockPoint>& points() const { return points_; }
    [[nodiscard]] std::size_t contradictions() const { return contradictions_; }  // points that were left out

private:
    [[nodiscard]] std::int64_t corrected(std::uint64_t time) const;
    [[nodiscard]] std::size_t piece(std::uint64_t time) const;
    [[nodiscard]] bool knows_rate(std::size_t first) const;

    std::vector<ClockPoint> points_;  // ascending
    std::int64_t shift_ = 0;          // ticks
    bool is_shift_ = true;            // always by so much, as on the node of the shared clock
    std::size_t contradictions_ = 0;
};

}  // namespace critpath::otf2

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/clock_correction.hpp"

#include <algorithm>

namespace critpath::otf2
{

namespace
{

__extension__ using Wide = __int128;

// Relative rates. Oscillators are within 50 ppm of their frequency, so two of them within 100 ppm of each other.
// Between two points that are a minute apart their rate wanders far less.
constexpr std::int64_t drift = 10'000;  // one in
constexpr std::int64_t wander = 1'000'000'000;

/// Points that contradict all clocks must not lead beyond 64 bits.
constexpr std::int64_t floor_divide(Wide numerator, Wide denominator)
{
    const Wide quotient = numerator / denominator - (numerator % denominator < 0 ? 1 : 0);
    return static_cast<std::int64_t>(std::clamp<Wide>(quotient, -largest_clock_offset, largest_clock_offset));
}

constexpr std::int64_t ceil_divide(Wide numerator, Wide denominator)
{
    return -floor_divide(-numerator, denominator);
}

constexpr Wide from(std::uint64_t begin, std::uint64_t time)
{
    return Wide{time} - Wide{begin};
}

}  // namespace

ClockPoint point_around(std::uint64_t time, std::int64_t low, std::int64_t high)
{
    const std::int64_t offset = floor_divide(Wide{low} + Wide{high}, 2);
    return {time, offset, high - offset};
}

ClockCorrection::ClockCorrection(std::vector<ClockPoint> points)
{
    std::ranges::sort(points, {}, &ClockPoint::time);
    for (const ClockPoint& point : points) {
        const bool goes_on =
            points_.empty() || (point.time > points_.back().time &&
                                Wide{point.time} + point.offset > Wide{points_.back().time} + points_.back().offset);
        if (goes_on) {
            points_.push_back(point);
        } else {
            ++contradictions_;
        }
    }
    if (!points_.empty()) {
        shift_ = points_.front().offset;
        is_shift_ = std::ranges::all_of(points_, [&](const ClockPoint& point) { return point.offset == shift_; });
    }
}

/// The first of the two points that decide about `time`; the only one, if there is one.
std::size_t ClockCorrection::piece(std::uint64_t time) const
{
    const auto after = std::ranges::upper_bound(points_, time, {}, &ClockPoint::time);
    const auto index = static_cast<std::size_t>(after - points_.begin());
    const std::size_t last_piece = points_.size() < 2 ? 0 : points_.size() - 2;
    return std::min(index == 0 ? 0 : index - 1, last_piece);
}

/// Whether the points first and first + 1 tell the rate better than its usual bound does.
bool ClockCorrection::knows_rate(std::size_t first) const
{
    if (first + 1 >= points_.size()) {
        return false;
    }
    const ClockPoint& a = points_[first];
    const ClockPoint& b = points_[first + 1];
    return (Wide{a.half_width} + b.half_width) * drift <= from(a.time, b.time);
}

std::int64_t ClockCorrection::corrected(std::uint64_t time) const
{
    const std::size_t first = piece(time);
    const ClockPoint& a = points_[first];
    const ClockPoint& b = points_[std::min(first + 1, points_.size() - 1)];
    const auto raw = static_cast<std::int64_t>(time);
    const bool outside = time < a.time || time > b.time || a.time == b.time;
    if (outside && !knows_rate(first)) {
        return raw + (time < a.time || a.time == b.time ? a.offset : b.offset);
    }
    return raw + a.offset + floor_divide((Wide{b.offset} - a.offset) * from(a.time, time), from(a.time, b.time));
}

std::int64_t ClockCorrection::uncertainty(std::uint64_t time) const
{
    if (points_.empty()) {
        return 0;
    }
    const std::size_t first = piece(time);
    const ClockPoint& a = points_[first];
    const ClockPoint& b = points_[std::min(first + 1, points_.size() - 1)];
    const bool before = time < a.time;
    if (before || time > b.time || a.time == b.time) {
        const ClockPoint& nearest = before ? a : b;
        const Wide distance = before ? from(time, a.time) : from(b.time, time);
        const Wide widths = Wide{a.half_width} + b.half_width;
        const Wide rate_error =
            knows_rate(first) ? ceil_divide(widths * distance, from(a.time, b.time)) + ceil_divide(distance, wander)
                              : ceil_divide(distance, drift);
        return nearest.half_width + static_cast<std::int64_t>(rate_error);
    }
    const Wide nearest = std::min(from(a.time, time), from(time, b.time));
    return a.half_width + ceil_divide((Wide{b.half_width} - a.half_width) * from(a.time, time), from(a.time, b.time)) +
           ceil_divide(nearest, wander);
}

std::int64_t ClockCorrection::largest_uncertainty(std::uint64_t begin, std::uint64_t end) const
{
    std::int64_t largest = std::max(uncertainty(begin), uncertainty(end));
    for (std::size_t i = 0; i < points_.size(); ++i) {
        // Between two points it is largest at one of them, or in the middle.
        const std::uint64_t next = points_[std::min(i + 1, points_.size() - 1)].time;
        for (const std::uint64_t time : {points_[i].time, points_[i].time + (next - points_[i].time) / 2}) {
            if (begin <= time && time <= end) {
                largest = std::max(largest, uncertainty(time));
            }
        }
    }
    return largest;
}

}  // namespace critpath::otf2

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what order says about two clocks over one stretch of time: the bounds on their difference, of which only the
// convex hulls matter, and the lines that fit between them. (docs/ALGORITHM, "Clocks")
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace critpath::replayer::clocks
{

/// When the first clock showed `time`, the second one was ahead of it by at most (or at least) `ahead`. In ns.
struct Bound {
    std::int64_t time = 0;
    std::int64_t ahead = 0;
    auto operator<=>(const Bound&) const = default;
};

/// The bounds of one side that no straight line can meet any other one of without: the lower convex hull of upper
/// bounds, or the upper one of lower bounds. Exact, so that it does not matter in which order, and in how many parts,
/// bounds are added.
class Hull
{
public:
    enum class Side : std::uint8_t { Upper, Lower };  // of the band: most, or least

    explicit Hull(Side side) : side_(side) {}
    void add(const Bound& bound);
    /// Ascending by time.
    [[nodiscard]] const std::vector<Bound>& bounds();

private:
    void reduce();

    Side side_;
    std::vector<Bound> bounds_;
    std::size_t reduced_ = 0;  // that many are a hull already
};

struct Interval {
    std::int64_t low = 0;
    std::int64_t high = 0;
    [[nodiscard]] bool valid() const { return low <= high; }
};

/// Where the lines that keep all bounds are at the two ends of a stretch.
struct Fit {
    Interval begin, end;
    bool contradictory = false;  // no line does; then these are those that break the bounds least
};

/// Lines over [begin, end] whose slope is at most `steepest` either way. Nothing if one side has no bound.
std::optional<Fit> fit(std::span<const Bound> upper, std::span<const Bound> lower, std::int64_t begin, std::int64_t end,
                       double steepest);

}  // namespace critpath::replayer::clocks

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/band.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace critpath::replayer::clocks
{

namespace
{

__extension__ using Wide = __int128;

constexpr std::size_t unreduced = 256;  // bounds that are kept before they are reduced

/// Above 0 if b lies above the line from a to c.
Wide above(const Bound& a, const Bound& b, const Bound& c)
{
    return Wide{b.ahead - a.ahead} * Wide{c.time - a.time} - Wide{c.ahead - a.ahead} * Wide{b.time - a.time};
}

/// The best place of a function that has one hill, by ternary search: 100 steps leave 1e-18 of the range.
template <class Function>
double top(double from, double to, Function function)
{
    for (int step = 0; step < 100; ++step) {
        const double a = from + (to - from) / 3;
        const double b = to - (to - from) / 3;
        if (function(a) < function(b))
            from = a;
        else
            to = b;
    }
    return (from + to) / 2;
}

/// The last place between `good` and `bad` where `holds` holds, as it does up to some place.
template <class Condition>
double last(double good, double bad, Condition holds)
{
    if (holds(bad))
        return bad;
    for (int step = 0; step < 60; ++step) {
        const double middle = (good + bad) / 2;
        (holds(middle) ? good : bad) = middle;
    }
    return good;
}

/// The lines of each slope between the two hulls. Relative to the first upper bound and the begin, so that floating
/// point numbers are exact enough; the outcome is rounded to the safe side.
class Lines
{
public:
    Lines(std::span<const Bound> upper, std::span<const Bound> lower, std::int64_t begin)
        : upper_(upper), lower_(lower), begin_(begin), base_(upper.front().ahead)
    {
    }

    /// At `time`, the highest line of a slope below all upper bounds, and the lowest one above all lower bounds.
    [[nodiscard]] double high(double slope, double time) const
    {
        double least = std::numeric_limits<double>::infinity();
        for (const Bound& bound : upper_)
            least = std::min(least, at(bound, slope, time));
        return least;
    }
    [[nodiscard]] double low(double slope, double time) const
    {
        double most = -std::numeric_limits<double>::infinity();
        for (const Bound& bound : lower_)
            most = std::max(most, at(bound, slope, time));
        return most;
    }
    [[nodiscard]] double width(double slope) const { return high(slope, 0) - low(slope, 0); }

    [[nodiscard]] Interval interval(double low, double high) const
    {
        return {base_ + static_cast<std::int64_t>(std::floor(low)), base_ + static_cast<std::int64_t>(std::ceil(high))};
    }

private:
    /// Where a line of this slope through the bound is at `time`.
    [[nodiscard]] double at(const Bound& bound, double slope, double time) const
    {
        return static_cast<double>(bound.ahead - base_) + slope * (time - static_cast<double>(bound.time - begin_));
    }

    std::span<const Bound> upper_, lower_;
    std::int64_t begin_, base_;
};

}  // namespace

void Hull::add(const Bound& bound)
{
    bounds_.push_back(bound);
    if (bounds_.size() >= 2 * reduced_ + unreduced)
        reduce();
}

const std::vector<Bound>& Hull::bounds()
{
    if (reduced_ != bounds_.size())
        reduce();
    return bounds_;
}

void Hull::reduce()
{
    const int up = side_ == Side::Lower ? 1 : -1;
    std::ranges::sort(bounds_);
    std::size_t kept = 0;
    for (const Bound& bound : bounds_) {
        if (kept > 0 && bounds_[kept - 1].time == bound.time) {
            if (side_ == Side::Upper)
                continue;  // sorted: the first of a time is the least
            --kept;
        }
        while (kept >= 2 && up * above(bounds_[kept - 2], bounds_[kept - 1], bound) <= 0)
            --kept;
        bounds_[kept++] = bound;
    }
    bounds_.resize(kept);
    reduced_ = kept;
}

std::optional<Fit> fit(std::span<const Bound> upper, std::span<const Bound> lower, std::int64_t begin, std::int64_t end,
                       double steepest)
{
    if (upper.empty() || lower.empty())
        return std::nullopt;
    const Lines lines(upper, lower, begin);
    const double length = static_cast<double>(end - begin);
    const double best = top(-steepest, steepest, [&](double slope) { return lines.width(slope); });
    const double width = lines.width(best);
    constexpr double rounding = 1;  // ns
    if (width < -rounding) {
        const auto broken = [&](double time) { return lines.interval(lines.high(best, time), lines.low(best, time)); };
        return Fit{broken(0), broken(length), true};
    }
    constexpr double noise = 0.01;  // ns, of the search
    const auto fits = [&](double slope) { return lines.width(slope) >= std::min(width, 0.0) - noise; };
    const double least = last(best, -steepest, fits);
    const double most = last(best, steepest, fits);
    const auto all = [&](double time) {
        const double highest = top(least, most, [&](double slope) { return lines.high(slope, time); });
        const double lowest = top(least, most, [&](double slope) { return -lines.low(slope, time); });
        return lines.interval(lines.low(lowest, time), lines.high(highest, time));
    };
    return Fit{all(0), all(length), false};
}

}  // namespace critpath::replayer::clocks

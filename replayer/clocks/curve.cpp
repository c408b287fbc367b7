// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/clocks/curve.hpp"

#include <algorithm>
#include <cstdlib>

namespace critpath::replayer::clocks
{

namespace
{

using model::Ns;

constexpr std::int64_t bias = std::int64_t{1} << 62;  // corrections know no times before 0

std::uint64_t raw(std::int64_t time)
{
    return static_cast<std::uint64_t>(time + bias);
}

}  // namespace

Curve::Curve(std::vector<Knot> knots) : knots_(std::move(knots))
{
    std::ranges::sort(knots_, {}, &Knot::time);
    std::vector<otf2::ClockPoint> points;
    points.reserve(knots_.size());
    for (const Knot& knot : knots_)
        points.push_back({raw(knot.time), knot.ahead, knot.error});
    correction_ = otf2::ClockCorrection(std::move(points));
}

Ns Curve::operator()(Ns time) const
{
    return is_identity() ? time : Ns{correction_.to_shared(raw(time.count())) - bias};
}

Ns Curve::back(Ns time) const
{
    if (is_identity())
        return time;
    std::int64_t step = 1;
    while ((*this)(time - Ns{step}) > time || (*this)(time + Ns{step}) <= time)
        step *= 2;
    Ns low = time - Ns{step};
    Ns high = time + Ns{step};  // low is not too late, high is
    while (high - low > Ns{1}) {
        const Ns middle = low + (high - low) / 2;
        ((*this)(middle) <= time ? low : high) = middle;
    }
    return low;
}

std::int64_t Curve::error(Ns time) const
{
    return correction_.uncertainty(raw(time.count()));
}

std::int64_t Curve::largest_error(Ns begin, Ns end) const
{
    return correction_.largest_uncertainty(raw(begin.count()), raw(end.count()));
}

std::int64_t Curve::largest_shift(Ns begin, Ns end) const
{
    std::int64_t largest = 0;
    const auto look = [&](Ns time) { largest = std::max(largest, std::abs(((*this)(time)-time).count())); };
    look(begin);
    look(end);
    for (const Knot& knot : knots_)
        if (begin <= Ns{knot.time} && Ns{knot.time} <= end)
            look(Ns{knot.time});
    return largest;
}

Curve Curve::reversed() const
{
    std::vector<Knot> knots;
    knots.reserve(knots_.size());
    for (const Knot& knot : knots_)
        knots.push_back({knot.time + knot.ahead, -knot.ahead, knot.error});
    return Curve(std::move(knots));
}

Curve chain(const Curve& first, const Curve& then, std::int64_t rest)
{
    std::vector<std::int64_t> times;
    for (const Knot& knot : first.knots())
        times.push_back(knot.time);
    for (const Knot& knot : then.knots())  // where `then` bends, the chain does
        times.push_back(first.back(Ns{knot.time}).count());
    std::ranges::sort(times);
    times.erase(std::unique(times.begin(), times.end()), times.end());
    std::vector<Knot> knots;
    knots.reserve(times.size());
    for (const std::int64_t time : times) {
        const Ns between = first(Ns{time});
        knots.push_back({time, (then(between) - Ns{time}).count(), first.error(Ns{time}) + then.error(between) + rest});
    }
    return Curve(std::move(knots));
}

}  // namespace critpath::replayer::clocks

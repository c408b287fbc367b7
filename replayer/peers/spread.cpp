// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/spread.hpp"

#include <algorithm>
#include <cmath>

namespace critpath::replayer
{

namespace
{

constexpr double unit = 1099511627776.0;  // 2^40

/// The whole units of `value`, which is what is left of them then.
double take_units(double& value, double size)
{
    const double units = std::floor(value / size);
    value -= units * size;
    return units;
}

}  // namespace

void Spread::Part::add(std::int64_t ns)
{
    double square = static_cast<double>(ns) * static_cast<double>(ns);
    sum += ns;
    high += static_cast<std::int64_t>(take_units(square, unit * unit));
    middle += static_cast<std::int64_t>(take_units(square, unit));
    low += static_cast<std::int64_t>(square);
}

std::int64_t Spread::Part::spread(std::int64_t gaps) const
{
    constexpr double of_95_percent = 1.96;
    const auto n = static_cast<double>(gaps), all = static_cast<double>(sum);
    const double squares =
        static_cast<double>(high) * unit * unit + (static_cast<double>(middle) * unit + static_cast<double>(low));
    return std::llround(of_95_percent * std::sqrt(std::max(squares - all * all / n, 0.0) * n / (n - 1)));
}

void Spread::add(const Split& parts, std::int64_t stands_for)
{
    gaps_ += 1;
    work_.add(stands_for * (parts.instructions + parts.cycles + parts.frequency + parts.instruction_time +
                            parts.all_cycles + parts.processor));
    preempted_.add(stands_for * parts.preempted);
    blocked_.add(stands_for * parts.blocked);
}

void Spread::add(const Spread& more)
{
    gaps_ += more.gaps_;
    for (Part Spread::*part : {&Spread::work_, &Spread::preempted_, &Spread::blocked_}) {
        (this->*part).sum += (more.*part).sum;
        (this->*part).high += (more.*part).high;
        (this->*part).middle += (more.*part).middle;
        (this->*part).low += (more.*part).low;
    }
}

void Spread::write_to(model::Difference& difference) const
{
    const auto of = [&](const Part& part) { return gaps_ > 1 ? part.spread(gaps_) : 0; };
    difference.work_spread_ns = of(work_);
    difference.preempted_spread_ns = of(preempted_);
    difference.blocked_spread_ns = of(blocked_);
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the 95 % interval of what samples have found: of a share, and of the difference of two (docs/ALGORITHM,
// "Samples").
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace critpath::report
{

struct Interval {
    double low;
    double high;
};

/// Of a share `p` (0 to 1) that `n` independent samples have found (n > 0): Wilson's score interval. Near 0 and 1, and
/// of few samples, it is not symmetric. E. B. Wilson, J. Am. Stat. Assoc. 22 (1927) 209; how often it holds: L. D.
/// Brown, T. T. Cai, A. DasGupta, Statistical Science 16 (2001) 101.
inline Interval score_interval(double p, double n)
{
    constexpr double z = 1.959964;  // 95 % of a normal distribution are that many standard deviations off at most
    constexpr double z2 = z * z;
    const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
    const double half = z / (1 + z2 / n) * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n));
    // At 0 and 1 the interval ends there, whatever rounding makes of it.
    return {std::clamp(middle - half, 0.0, p), std::clamp(middle + half, p, 1.0)};
}

/// So many standard deviations each of `n` normal variables is off at most, all of them together in 95 % (C. E.
/// Bonferroni, 1936): who looks for the largest of many finds one that is large by chance.
inline double deviations_of_all(std::size_t n)
{
    const double outside = 0.05 / static_cast<double>(std::max<std::size_t>(n, 1));
    double low = 0, high = 40;  // beyond which no double is
    for (int i = 0; i < 64; ++i) {
        const double middle = (low + high) / 2;
        (std::erfc(middle / std::sqrt(2.0)) > outside ? low : high) = middle;
    }
    return low;
}

/// How many equal samples tell as much of the share `p` of a part as those that brought it. `part` and `whole`: of the
/// part and of all, the sum of the squares of what each sample has brought; `all`: the sum of that itself. By the
/// variance of a ratio of sums, ((1 - p)^2 part + p^2 (whole - part)) / all^2, which is p (1 - p) / n for equal ones;
/// but no more than by all of them together (L. Kish, Survey Sampling, 1965): what few samples say of their own
/// variance is too little where some bring much more than others.
inline double equal_samples(double p, double part, double whole, double all)
{
    const double variance = ((1 - p) * (1 - p) * part + p * p * (whole - part)) / (all * all);
    const double of_all = all * all / whole;
    return p > 0 && p < 1 && variance > 0 ? std::min(of_all, p * (1 - p) / variance) : of_all;
}

/// Whether `n` samples of what has the share `p` could just as well be none: that is among the 95 % of outcomes in the
/// middle.
inline bool could_be_missed(double p, double n)
{
    constexpr double rare = 0.025;
    return std::pow(1 - p, n) >= rare;
}

/// Of `after` - `before`, whose own intervals are known and independent: R. G. Newcombe, Statistics in Medicine 17
/// (1998) 873, method 10, which is as good for times as for shares (G. Y. Zou, A. Donner, Statistics in Medicine 27
/// (2008) 1693).
inline Interval difference_interval(double before, const Interval& of_before, double after, const Interval& of_after)
{
    const double difference = after - before;
    return {difference - std::hypot(after - of_after.low, of_before.high - before),
            difference + std::hypot(of_after.high - after, before - of_before.low)};
}

}  // namespace critpath::report

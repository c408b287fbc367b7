// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the intervals that shares of samples should have.
#pragma once

#include "analysis/report/statistics.hpp"

namespace critpath::report
{

/// Wilson's interval as the root of (q - p)^2 = z^2 q (1 - q) / n that is nearest to p on that side, by bisection: what
/// a function of `part` of the sampled domain, which is `domain` of the path, has of it.
inline Interval expected(double part, double samples, double domain)
{
    const double p = part / domain;
    const auto end = [&](double outer) {
        double inner = p;
        for (int i = 0; i < 200; ++i) {
            const double q = (inner + outer) / 2;
            const bool is_outside = (q - p) * (q - p) > 1.959964 * 1.959964 * q * (1 - q) / samples;
            (is_outside ? outer : inner) = q;
        }
        return inner * domain;
    };
    return {end(0), end(1)};
}

}  // namespace critpath::report

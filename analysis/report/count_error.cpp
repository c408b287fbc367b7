// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/count_error.hpp"

#include "analysis/report/numbers.hpp"
#include "analysis/report/statistics.hpp"

namespace critpath::report
{

double samples_behind(const model::EventAmount& amount, const model::EventAmount& path)
{
    return path.count <= 0 || path.weighted <= 0 ? 0
                                                 : equal_samples(part(amount.count, path.count), amount.weighted,
                                                                 path.weighted, static_cast<double>(path.count));
}

Estimate count_share(const model::EventAmount& amount, const model::EventAmount& path)
{
    const double p = part(amount.count, path.count);
    const double n = samples_behind(amount, path);
    if (n <= 0)
        return {p, p, p, true};
    const Interval interval = score_interval(p, n);
    return {p, interval.low, interval.high, false};
}

bool could_be_none(const model::EventAmount& amount, const model::EventAmount& path)
{
    const double n = samples_behind(amount, path);
    return amount.count > 0 && n > 0 && could_be_missed(part(amount.count, path.count), n);
}

}  // namespace critpath::report

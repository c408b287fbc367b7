// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/computed_time.hpp"

#include "analysis/report/hotspots.hpp"

#include <cstddef>
#include <numeric>

namespace critpath::report
{

namespace
{

std::int64_t sum(const std::vector<std::int64_t>& values)
{
    return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

}  // namespace

ComputedTime::ComputedTime(const model::Profile& profile)
    : computed_ns_(profile.processes.size(), 0), path_ns_(profile.processes.size(), 0)
{
    for (std::size_t i = 0; i < profile.locations.size(); ++i)
        computed_ns_[profile.location_process[i]] += profile.computed_ns[i];
    for (const model::KindTime& time : profile.kinds)
        if (time.kind == model::SegmentKind::Compute)
            path_ns_[time.process.value] += time.ns;
    if (ranks_compare(profile))
        mean_ns_ = sum(computed_ns_) / static_cast<std::int64_t>(ranks());
}

std::int64_t ComputedTime::on_path() const
{
    return sum(path_ns_);
}

}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/not_sampled.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

__extension__ using Wide = __int128;

std::int64_t part(std::int64_t whole, std::int64_t numerator, std::int64_t denominator)
{
    return static_cast<std::int64_t>(Wide{whole} * numerator / denominator);
}

}  // namespace

std::int64_t NotSampled::scale(std::int64_t ns) const
{
    return part(ns, numerator, denominator);
}

NotSampled not_sampled(const std::vector<SampledTime>& processes)
{
    NotSampled result;
    std::int64_t time = 0;
    std::int64_t sampled = 0;
    std::int64_t deficit = 0;
    for (const SampledTime& p : processes) {
        time += p.time;
        sampled += p.sampled;
        deficit += std::max<std::int64_t>(0, p.time - p.sampled);
    }
    if (sampled > time) {
        result.numerator = time;
        result.denominator = sampled;
    }
    const std::int64_t left = std::max<std::int64_t>(0, time - sampled);
    std::int64_t given = 0;
    std::int64_t seen = 0;
    for (const SampledTime& p : processes) {  // differences of running sums: the parts add up exactly
        seen += std::max<std::int64_t>(0, p.time - p.sampled);
        const std::int64_t until_here = deficit > 0 ? part(left, seen, deficit) : 0;
        result.by_process.push_back(until_here - given);
        given = until_here;
    }
    return result;
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/division/not_sampled.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace critpath::division
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

void balance(model::Profile& profile, const std::vector<SampledTime>& processes, model::CallPathId rest)
{
    const NotSampled balanced = not_sampled(processes);
    std::int64_t left = 0;  // of the path time that samples divide
    std::size_t largest = 0;
    for (std::size_t i = 0; i < processes.size(); ++i) {
        left += processes[i].time;
        if (processes[i].time > processes[largest].time)
            largest = i;
    }
    for (model::CallPathTime& time : profile.path)
        if (profile.is_sampled(time)) {
            time.ns = balanced.scale(time.ns);
            left -= time.ns;
        }
    for (model::AddressTime& time : profile.addresses)
        time.ns = balanced.scale(time.ns);
    std::vector<model::CallPathTime> more;
    for (std::uint32_t process = 0; process < processes.size(); ++process) {
        left -= balanced.by_process[process];
        more.push_back({rest, {process}, balanced.by_process[process], 0});
    }
    if (!more.empty())
        more[largest].ns += left;  // what rounding left over, a few ns
    std::ranges::copy_if(more, std::back_inserter(profile.path),
                         [](const model::CallPathTime& t) { return t.ns != 0; });
    std::ranges::sort(profile.path, {},
                      [](const model::CallPathTime& t) { return std::tuple(t.call_path, t.process); });
}

}  // namespace critpath::division

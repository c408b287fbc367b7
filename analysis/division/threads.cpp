// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/division/threads.hpp"

#include <algorithm>
#include <unordered_map>

namespace critpath::division
{

namespace
{

using model::Attribution;
using model::Segment;
using model::SegmentKind;

std::int64_t length_in(const Window& window, const Attribution& of)
{
    if (of.is_sample())
        return of.begin >= window.begin && of.begin < window.end ? of.ns : 0;
    return length_in(window, of.begin, of.begin + of.ns);
}

bool is_computation(const Segment& segment)
{
    return static_cast<SegmentKind>(segment.kind) == SegmentKind::Compute;
}

}  // namespace

std::vector<ThreadTime> time_of_threads(const model::Profile& profile, const PathRecords& records, const Window& window)
{
    std::vector<ThreadTime> result(profile.locations.size());
    const auto add = [&](std::uint32_t location, std::int64_t ns, bool computed) {
        result.at(location).path += ns;
        result.at(location).computed += computed ? ns : 0;
    };
    for (const Segment& segment : records.segments)
        add(segment.location, length_in(window, segment.begin, segment.end), is_computation(segment));
    std::unordered_map<const Segment*, std::int64_t> given;  // away, of the segments that waited
    for (const Attribution& attribution : records.attributions) {
        if (attribution.is_inside_mpi())
            continue;
        const auto segment = std::ranges::upper_bound(records.segments, attribution.begin, {}, &Segment::end);
        if (segment == records.segments.end() || segment->location == attribution.location || !is_computation(*segment))
            continue;
        // A sample may stand for more than what its segment has in the window.
        std::int64_t& all = given[&*segment];
        const std::int64_t most = length_in(window, segment->begin, segment->end) - all;
        const std::int64_t ns = std::min(length_in(window, attribution), most);
        all += ns;
        add(segment->location, -ns, true);
        add(attribution.location, ns, true);
    }
    return result;
}

}  // namespace critpath::division

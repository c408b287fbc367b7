// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/division/threads.hpp"

#include <algorithm>
#include <map>

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

/// Whether any process has several threads.
bool any_has_several(std::vector<std::uint32_t> process_of_location)
{
    std::ranges::sort(process_of_location);
    return std::ranges::adjacent_find(process_of_location) != process_of_location.end();
}

/// The computation of a thread, in the window.
struct Divided {
    std::int64_t left = 0;      // for samples to divide
    std::int64_t sampled = 0;   // what these stand for, which may be more than that, wherever in it they are
    std::uint64_t samples = 0;  // independent ones
    std::map<std::uint32_t, std::int64_t> of_others;  // of `sampled`, by LocationId

    [[nodiscard]] std::int64_t of_samples(std::int64_t ns) const
    {
        const auto most = static_cast<double>(std::max<std::int64_t>(left, 0));
        return sampled <= left
                   ? ns
                   : static_cast<std::int64_t>(static_cast<double>(ns) / static_cast<double>(sampled) * most);
    }
};

}  // namespace

ThreadTimes time_of_threads(const model::Profile& profile, const PathRecords& records, const Window& window)
{
    ThreadTimes result;
    std::vector<ThreadTime>& threads = result.threads;
    threads.resize(profile.locations.size());
    const auto add = [&](std::uint32_t location, std::int64_t ns, bool computed) {
        threads.at(location).path += ns;
        threads.at(location).computed += computed ? ns : 0;
    };
    for (const Segment& segment : records.segments)
        add(segment.location, length_in(window, segment.begin, segment.end), is_computation(segment));

    if (!any_has_several(profile.location_process))
        return result;
    std::vector<Divided> divided(profile.locations.size());
    for (std::size_t i = 0; i < divided.size(); ++i)
        divided[i].left = threads[i].computed;
    for (const Attribution& attribution : records.attributions) {
        const std::int64_t ns = attribution.is_inside_mpi() ? 0 : length_in(window, attribution);
        if (ns == 0)
            continue;
        const auto segment = std::ranges::upper_bound(records.segments, attribution.begin, {}, &Segment::end);
        if (segment == records.segments.end() || !is_computation(*segment))
            continue;
        Divided& of_path = divided[segment->location];
        const bool is_other = attribution.location != segment->location;
        if (attribution.is_sample()) {
            of_path.sampled += ns;
            of_path.samples += attribution.independent;
            if (is_other)
                of_path.of_others[attribution.location] += ns;
            continue;
        }
        of_path.left -= ns;
        if (is_other) {
            add(segment->location, -ns, true);
            add(attribution.location, ns, true);
        }
    }
    for (std::uint32_t i = 0; i < divided.size(); ++i)
        for (const auto& [other, sampled] : divided[i].of_others) {
            const std::int64_t ns = divided[i].of_samples(sampled);
            add(i, -ns, true);
            add(other, ns, true);
            // Of those of several threads at one time, the one that counts may be outside of the window.
            result.given.push_back({i, other, ns, divided[i].of_samples(divided[i].sampled),
                                    std::max<std::uint64_t>(divided[i].samples, 1)});
        }
    return result;
}

}  // namespace critpath::division

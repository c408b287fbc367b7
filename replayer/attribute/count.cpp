// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/count.hpp"

#include "analysis/model/calls.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using model::LocationTrace;
using model::Ns;
using model::OffProcessor;
using model::Sample;
using model::Segment;

__extension__ using Wide = __int128;

/// Processor time of a thread before a moment, but for a constant.
std::int64_t processor_time(const LocationTrace& location, const std::vector<std::int64_t>& off_before, Ns time)
{
    const auto behind = std::ranges::lower_bound(location.off, time, {}, &OffProcessor::begin);
    std::int64_t off = 0;
    if (behind != location.off.begin()) {
        const auto last = behind - 1;
        off = off_before[static_cast<std::size_t>(last - location.off.begin())] +
              (std::min(time, last->end) - last->begin).count();
    }
    return time.count() - off;
}

/// Since when the counts of a sample are.
Ns begin_of(const LocationTrace& location, std::size_t sample)
{
    return sample > 0 ? location.samples[sample - 1].time : std::min(location.begin, location.samples[sample].time);
}

bool is_of_computation(const LocationTrace& location, std::size_t sample)
{
    const Sample& s = location.samples[sample];
    const std::size_t call = model::last_entered(location.calls, s.time);
    return s.context.valid() && (call == location.calls.size() || location.calls.leave(call) <= s.time);
}

}  // namespace

void CountDivider::add_computation(const Segment& segment)
{
    if (is_idle())
        return;
    const Part part = part_of(segment);
    divide(part, [&](std::size_t sample) { return place_of(part, sample); });
}

void CountDivider::add_call(const Segment& segment)
{
    if (is_idle())
        return;
    divide(part_of(segment), [&](std::size_t) { return Place{model::ContextId{segment.call}}; });
}

CountDivider::Part CountDivider::part_of(const Segment& segment)
{
    const LocationTrace& location = replay_.trace_of(model::LocationId{segment.location});
    return {location, off_before(location), replay_.definitions.locations[segment.location].process.value,
            origin_ + Ns{segment.begin}, origin_ + Ns{segment.end}};
}

const CountDivider::OffBefore& CountDivider::off_before(const LocationTrace& location)
{
    const auto [found, is_new] = off_before_.try_emplace(location.location.value);
    if (is_new) {
        std::int64_t sum = 0;
        for (const OffProcessor& off : location.off) {
            found->second.push_back(sum);
            sum += (off.end - off.begin).count();
        }
    }
    return found->second;
}

/// Adds the part by the samples that its counts stand in; `place_of` each of them.
template <class PlaceOf>
void CountDivider::divide(const Part& part, PlaceOf place_of)
{
    const std::vector<Sample>& samples = part.location.samples;
    auto i =
        static_cast<std::size_t>(std::ranges::upper_bound(samples, part.begin, {}, &Sample::time) - samples.begin());
    Ns time = part.begin;
    for (; i < samples.size() && time < part.end; ++i) {
        const Ns begin = std::max(time, begin_of(part.location, i));
        time = std::min(part.end, samples[i].time);
        if (begin < time)
            add(part, i, begin, time, place_of(i));
    }
    if (time < part.end)  // behind the last sample
        add(part, samples.size(), time, part.end, place_of(samples.size()));
}

void CountDivider::add(const Part& part, std::size_t sample, Ns begin, Ns end, Place place)
{
    const LocationTrace& location = part.location;
    const auto ran_until = [&](Ns time) { return processor_time(location, part.off_before, time); };
    const std::int64_t ns = ran_until(end) - ran_until(begin);
    const bool has_sample = sample < location.samples.size();
    // A thread counts nothing without a processor; but where nobody knows when it had one, time has to do.
    std::int64_t from = 0, until = 0, whole = 0;
    if (has_sample) {
        const Ns since = begin_of(location, sample), to = location.samples[sample].time;
        from = ran_until(begin) - ran_until(since);
        until = ran_until(end) - ran_until(since);
        whole = ran_until(to) - ran_until(since);
        if (whole <= 0) {
            from = (begin - since).count();
            until = (end - since).count();
            whole = (to - since).count();
        }
    }
    for (std::uint32_t event = 0; event < replay_.definitions.counted.size(); ++event) {
        const std::int64_t count =
            has_sample ? location.sample_counts.count(sample, event) : model::SampleCounts::unknown;
        EventAmount amount;
        amount.ns = ns;
        // What a thread counts while it waits for others is its spinning.
        if (count != model::SampleCounts::unknown && place.pseudo != Pseudo::TeamWait) {
            // So that the parts of a count are the whole.
            amount.count = static_cast<std::int64_t>(Wide{count} * until / whole - Wide{count} * from / whole);
            amount.known_ns = ns;
            amount.scaled_ns = location.sample_counts.is_scaled(sample) ? ns : 0;
        }
        if (amount.ns != 0 || amount.count != 0)
            tally_.events[{place, part.process, event}].add(amount);
    }
}

/// Which function counted what the sample says, in a computation: the one that is sampled in it; or else the one at
/// either end of these counts, unless both are in calls.
Place CountDivider::place_of(const Part& part, std::size_t sample) const
{
    const LocationTrace& location = part.location;
    const bool has_this = sample < location.samples.size() && is_of_computation(location, sample);
    const bool has_last = sample > 0 && is_of_computation(location, sample - 1);
    const bool is_this_inside = has_this && location.samples[sample].time < part.end;
    const bool is_last_inside = has_last && location.samples[sample - 1].time >= part.begin;
    if (has_this && (is_this_inside || !is_last_inside))
        return divider_.place_of(location.samples[sample]);
    if (has_last)
        return divider_.place_of(location.samples[sample - 1]);
    return {model::ContextId::none(), Pseudo::NotSampled};
}

}  // namespace critpath::replayer

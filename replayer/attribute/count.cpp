// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/count.hpp"

#include "analysis/model/calls.hpp"
#include "replayer/order.hpp"

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

/// Since when the counts of a sample are.
Ns begin_of(const LocationTrace& location, std::size_t sample)
{
    return sample > 0 ? location.samples[sample - 1].time : std::min(location.begin, location.samples[sample].time);
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

CountDivider::Cursor::Cursor(const LocationTrace& location) : location_(location)
{
    std::int64_t sum = 0;
    for (const OffProcessor& off : location.off) {
        off_before_.push_back(sum);
        sum += (off.end - off.begin).count();
    }
}

std::int64_t CountDivider::Cursor::processor_time(Ns time)
{
    const std::vector<OffProcessor>& off = location_.off;
    near_off_ = count_first(
        off.size(), [&](std::size_t i) { return off[i].begin < time; }, near_off_);
    if (near_off_ == 0)
        return time.count();
    const OffProcessor& last = off[near_off_ - 1];
    return time.count() - off_before_[near_off_ - 1] - (std::min(time, last.end) - last.begin).count();
}

std::size_t CountDivider::Cursor::sample_behind(Ns time)
{
    const std::vector<Sample>& samples = location_.samples;
    return near_sample_ = count_first(
               samples.size(), [&](std::size_t i) { return samples[i].time <= time; }, near_sample_);
}

bool CountDivider::Cursor::is_of_computation(std::size_t sample)
{
    Answer& answer = answers_[sample % answers_.size()];
    if (answer.sample != sample) {
        const Sample& s = location_.samples[sample];
        const std::size_t call = model::last_entered(location_.calls, s.time);
        answer = {sample,
                  s.context.valid() && (call == location_.calls.size() || location_.calls.leave(call) <= s.time)};
    }
    return answer.is_of_computation;
}

CountDivider::Part CountDivider::part_of(const Segment& segment)
{
    const LocationTrace& location = replay_.trace_of(model::LocationId{segment.location});
    return {location, cursors_.try_emplace(segment.location, location).first->second,
            replay_.definitions.locations[segment.location].process.value, origin_ + Ns{segment.begin},
            origin_ + Ns{segment.end}};
}

std::vector<EventAmount>& CountDivider::amounts(Place place, std::uint32_t process)
{
    const std::size_t hash = place.context.value + static_cast<std::size_t>(place.pseudo) + process;
    Recent& recent = recent_[hash % recent_.size()];
    if (recent.amounts == nullptr || recent.place != place || recent.process != process) {
        recent = {place, process, &tally_.events[{place, process}]};
        recent.amounts->resize(replay_.definitions.counted.size());
    }
    return *recent.amounts;
}

/// Adds the part by the samples that its counts stand in; `place_of` each of them.
template <class PlaceOf>
void CountDivider::divide(const Part& part, PlaceOf place_of)
{
    const std::vector<Sample>& samples = part.location.samples;
    std::size_t i = part.cursor.sample_behind(part.begin);
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
    const model::SampleCounts& counts = part.location.sample_counts;
    const std::int64_t from = part.cursor.processor_time(begin);
    const std::int64_t ns = part.cursor.processor_time(end) - from;
    // What a thread counts while it waits for others is its spinning.
    const bool is_known = sample < part.location.samples.size() && place.pseudo != Pseudo::TeamWait;
    const std::int64_t scaled_ns = is_known && counts.is_scaled(sample) ? ns : 0;
    std::vector<EventAmount>& sums = amounts(place, part.process);
    for (std::uint32_t event = 0; event < sums.size(); ++event) {
        const std::int64_t count = is_known ? counts.count(sample, event) : model::SampleCounts::unknown;
        if (count == model::SampleCounts::unknown)
            sums[event].add({0, ns, 0, 0});
        else
            sums[event].add({count == 0 ? 0 : part_of_count(part, sample, begin, end, count), ns, ns, scaled_ns});
    }
}

/// Of a count of a sample, what is of [begin, end): by processor time, for a thread counts nothing without a processor;
/// but where nobody knows when it had one, time has to do.
std::int64_t CountDivider::part_of_count(const Part& part, std::size_t sample, Ns begin, Ns end, std::int64_t count)
{
    const Ns since = begin_of(part.location, sample), to = part.location.samples[sample].time;
    const std::int64_t ran_before = part.cursor.processor_time(since);
    std::int64_t from = part.cursor.processor_time(begin) - ran_before;
    std::int64_t until = part.cursor.processor_time(end) - ran_before;
    std::int64_t whole = part.cursor.processor_time(to) - ran_before;
    if (whole <= 0) {
        from = (begin - since).count();
        until = (end - since).count();
        whole = (to - since).count();
    }
    // So that the parts of a count are the whole.
    return static_cast<std::int64_t>(Wide{count} * until / whole - Wide{count} * from / whole);
}

/// Which function counted what the sample says, in a computation: the one that is sampled in it; or else the one at
/// either end of these counts, unless both are in calls.
Place CountDivider::place_of(const Part& part, std::size_t sample) const
{
    const LocationTrace& location = part.location;
    const bool has_this = sample < location.samples.size() && part.cursor.is_of_computation(sample);
    const bool has_last = sample > 0 && part.cursor.is_of_computation(sample - 1);
    const bool is_this_inside = has_this && location.samples[sample].time < part.end;
    const bool is_last_inside = has_last && location.samples[sample - 1].time >= part.begin;
    if (has_this && (is_this_inside || !is_last_inside))
        return divider_.place_of(location.samples[sample]);
    if (has_last)
        return divider_.place_of(location.samples[sample - 1]);
    return {model::ContextId::none(), Pseudo::NotSampled};
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/thread_counts.hpp"

#include "analysis/model/calls.hpp"
#include "replayer/order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace critpath::replayer
{

namespace
{

using model::CountInterval;
using model::CountOwner;
using model::CountRecords;
using model::LocationId;
using model::LocationTrace;
using model::Ns;
using model::OffProcessor;
using model::Sample;

__extension__ using Wide = __int128;

}  // namespace

std::vector<std::int64_t> counts_of(const LocationTrace& location, std::size_t sample, std::size_t events)
{
    std::vector<std::int64_t> counts(events);
    for (std::size_t event = 0; event < events; ++event)
        counts[event] = location.sample_counts.count(sample, event);
    return counts;
}

std::uint32_t scaled_flag(const LocationTrace& location, std::size_t sample)
{
    return location.sample_counts.is_scaled(sample) ? CountInterval::scaled : 0;
}

ThreadCounts::ThreadCounts(const Replay& replay, const SampledCode& code, model::Interval run, LocationId location)
    : code_(code), trace_(replay.trace_of(replay.definitions.locations[location.value].process)),
      location_(replay.trace_of(location)), numbers_(replay.definitions), run_(run),
      process_(replay.definitions.locations[location.value].process.value),
      intervals_(replay.definitions.counted.size()), moments_(intervals_.events()), made_(run.begin)
{
    std::int64_t sum = 0;
    for (const OffProcessor& off : location_.off) {
        off_before_.push_back(sum);
        sum += (off.end - off.begin).count();
    }
}

void ThreadCounts::add_moment(const CountInterval& moment, std::span<const std::int64_t> counts)
{
    moments_.push_back(moment, counts);
}

void ThreadCounts::move_to(std::vector<model::CountTable>& tables)
{
    const CountRecords moments = moments_.records();
    std::vector<std::size_t> order(moments.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return moments.interval(i).begin; });
    for (const std::size_t i : order)
        intervals_.push_back(moments.interval(i), moments.counts(i));
    intervals_.move_to(tables);
}

void ThreadCounts::make_until(Ns begin, Ns end)
{
    made_ = std::max(made_, begin);
    while (made_ < end)
        made_ = make_at(made_);
}

/// Makes the interval that `time` lies in, if there is one; returns until when that answers for.
Ns ThreadCounts::make_at(Ns time)
{
    const Stretch& stretch = stretch_at(time);
    if (time < stretch.since)
        return stretch.since;
    const std::vector<OffProcessor>& off = location_.off;
    near_off_ = count_first(
        off.size(), [&](std::size_t i) { return off[i].end <= time; }, near_off_);
    const bool has_sample = stretch.sample < location_.samples.size();
    if (has_sample && stretch.processor_ns <= 0) {
        make(stretch, stretch.since, stretch.until, CountInterval::no_processor);
        return stretch.until;
    }
    Ns end = stretch.until;
    if (near_off_ < off.size()) {
        if (off[near_off_].begin <= time)
            return off[near_off_].end;
        end = std::min(end, off[near_off_].begin);
    }
    make(stretch, near_off_ > 0 ? std::max(stretch.since, off[near_off_ - 1].end) : stretch.since, end, 0);
    return end;
}

const ThreadCounts::Stretch& ThreadCounts::stretch_at(Ns time)
{
    const std::vector<Sample>& samples = location_.samples;
    const std::size_t sample = count_first(
        samples.size(), [&](std::size_t i) { return samples[i].time <= time; }, stretch_.sample);
    const bool has_sample = sample < samples.size();
    if (has_sample && sample == stretch_.sample)
        return stretch_;
    const Ns until = has_sample ? samples[sample].time : std::max(run_.end, time + Ns{1});
    const Ns since = sample > 0 ? samples[sample - 1].time : std::min(location_.begin, until);
    const std::int64_t before = processor_time(since);
    stretch_ = {sample, since, until, before, processor_time(until) - before, place_of(sample), place_of(sample - 1)};
    return stretch_;
}

/// Counts are spread over the processor time of the stretch; but where nobody knows when it had one, over all of it.
void ThreadCounts::make(const Stretch& stretch, Ns begin, Ns end, std::uint32_t flags)
{
    std::vector<std::int64_t> counts = counts_of(location_, stretch.sample, intervals_.events());
    std::int64_t whole = (end - begin).count();
    if (flags != CountInterval::no_processor && stretch.sample < location_.samples.size()) {
        const std::int64_t from = processor_time(begin) - stretch.before, to = processor_time(end) - stretch.before;
        whole = std::max(whole, stretch.processor_ns);
        for (std::int64_t& count : counts)
            if (count > 0)
                count = static_cast<std::int64_t>(Wide{count} * to / whole - Wide{count} * from / whole);
    }
    intervals_.push_back({(begin - run_.begin).count(), (end - begin).count(), (stretch.since - run_.begin).count(),
                          (stretch.until - run_.begin).count(), stretch.last, stretch.first, location_.location.value,
                          flags | scaled_flag(location_, stretch.sample), whole},
                         counts);
}

/// There may be no such sample.
model::CountPlace ThreadCounts::place_of(std::size_t sample) const
{
    if (sample >= location_.samples.size() || !is_of_computation(location_.samples[sample]))
        return {0, model::CallPathId::none().value, CountOwner::None};
    const Sample& s = location_.samples[sample];
    CountOwner owner = CountOwner::Function;
    if (code_.waits_for_team(s.context))
        owner = work_around(trace_, location_.location, s, code_).empty() ? CountOwner::Waiting : CountOwner::Others;
    const Place place = code_.place_of(s);
    return {address_in(place, s), numbers_.number(place), owner};
}

bool ThreadCounts::is_of_computation(const Sample& sample) const
{
    const std::size_t call = model::last_entered(location_.calls, sample.time);
    return sample.context.valid() && (call == location_.calls.size() || location_.calls.leave(call) <= sample.time);
}

/// Of the thread, before a moment, ns, but for a constant.
std::int64_t ThreadCounts::processor_time(Ns time) const
{
    const std::vector<OffProcessor>& off = location_.off;
    const std::size_t before = count_first(
        off.size(), [&](std::size_t i) { return off[i].begin < time; }, near_off_);
    if (before == 0)
        return time.count();
    const OffProcessor& last = off[before - 1];
    return time.count() - off_before_[before - 1] - (std::min(time, last.end) - last.begin).count();
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/count.hpp"

#include "analysis/division/counts.hpp"
#include "analysis/model/calls.hpp"
#include "replayer/order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace critpath::replayer
{

namespace
{

using model::CountInterval;
using model::CountOwner;
using model::CountRecords;
using model::EventAmount;
using model::LocationId;
using model::LocationTrace;
using model::Ns;
using model::OffProcessor;
using model::Sample;
using model::Segment;

__extension__ using Wide = __int128;

/// By event.
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

}  // namespace

ThreadCounts::ThreadCounts(const Replay& replay, const TeamWaits& waits, model::Interval run, LocationId location)
    : replay_(replay), waits_(waits), trace_(replay.trace_of(replay.definitions.locations[location.value].process)),
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

template <class Visit>
void ThreadCounts::for_each(Ns begin, Ns end, Visit visit)
{
    make_until(begin, end);
    const CountRecords records = intervals_.records();
    while (next_ < records.size() && records.interval(next_).end() <= (begin - run_.begin).count())
        ++next_;
    for (std::size_t i = next_; i < records.size(); ++i)
        if (const CountInterval interval = records.interval(i); interval.begin < (end - run_.begin).count())
            visit(interval, records.counts(i));
}

void ThreadCounts::add_moment(const CountInterval& moment, std::span<const std::int64_t> counts)
{
    moments_.push_back(moment, counts);
}

void ThreadCounts::append_to(model::CountTable& table) const
{
    const CountRecords intervals = intervals_.records(), moments = moments_.records();
    for (std::size_t i = 0; i < intervals.size(); ++i)
        table.push_back(intervals.interval(i), intervals.counts(i));
    std::vector<std::size_t> order(moments.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return moments.interval(i).begin; });
    for (const std::size_t i : order)
        table.push_back(moments.interval(i), moments.counts(i));
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
    const Stretch stretch = stretch_at(time);
    if (time < stretch.since)
        return stretch.since;
    const std::vector<OffProcessor>& off = location_.off;
    near_off_ = count_first(
        off.size(), [&](std::size_t i) { return off[i].end <= time; }, near_off_);
    const bool has_sample = stretch.sample < location_.samples.size();
    if (has_sample && processor_time(stretch.until) <= processor_time(stretch.since)) {
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

ThreadCounts::Stretch ThreadCounts::stretch_at(Ns time)
{
    const std::vector<Sample>& samples = location_.samples;
    near_sample_ = count_first(
        samples.size(), [&](std::size_t i) { return samples[i].time <= time; }, near_sample_);
    const bool has_sample = near_sample_ < samples.size();
    const Ns until = has_sample ? samples[near_sample_].time : std::max(run_.end, time + Ns{1});
    return {near_sample_, near_sample_ > 0 ? samples[near_sample_ - 1].time : std::min(location_.begin, until), until};
}

/// Counts are spread over the processor time of the stretch; but where nobody knows when it had one, over all of it.
void ThreadCounts::make(const Stretch& stretch, Ns begin, Ns end, std::uint32_t flags)
{
    std::vector<std::int64_t> counts = counts_of(location_, stretch.sample, intervals_.events());
    if (flags != CountInterval::no_processor && stretch.sample < location_.samples.size()) {
        const std::int64_t before = processor_time(stretch.since);
        const std::int64_t from = processor_time(begin) - before, to = processor_time(end) - before;
        const std::int64_t whole = processor_time(stretch.until) - before;
        for (std::int64_t& count : counts)
            if (count > 0)
                count = static_cast<std::int64_t>(Wide{count} * to / whole - Wide{count} * from / whole);
    }
    intervals_.push_back({(begin - run_.begin).count(), (end - begin).count(), (stretch.since - run_.begin).count(),
                          (stretch.until - run_.begin).count(), place_of(stretch.sample), place_of(stretch.sample - 1),
                          location_.location.value, flags | scaled_flag(location_, stretch.sample)},
                         counts);
}

/// There may be no such sample.
model::CountPlace ThreadCounts::place_of(std::size_t sample) const
{
    if (sample >= location_.samples.size() || !is_of_computation(location_.samples[sample]))
        return {0, model::CallPathId::none().value, CountOwner::None};
    const Sample& s = location_.samples[sample];
    CountOwner owner = CountOwner::Function;
    if (waits_.has(s.context))
        owner = work_around(trace_, location_.location, s, waits_).empty() ? CountOwner::Waiting : CountOwner::Others;
    return {owner == CountOwner::Function ? s.offset : 0, numbers_.number(waits_.place_of(s)), owner};
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

void CountDivider::add(const Segment& segment)
{
    if (is_idle())
        return;
    ThreadCounts& counts = thread({segment.location});
    counts.for_each(run_.begin + Ns{segment.begin}, run_.begin + Ns{segment.end},
                    [&](const CountInterval& interval, std::span<const std::int64_t> numbers) {
                        const auto share = division::share_of(interval, segment);
                        if (!share)
                            return;
                        std::vector<EventAmount>& sums = amounts(numbers_.place(share->call_path), counts.process());
                        for (std::size_t event = 0; event < sums.size(); ++event)
                            sums[event].add(division::amount_of(interval, numbers[event], share->begin, share->end,
                                                                share->is_known));
                    });
}

void CountDivider::add_work(LocationId location, Ns time, std::int64_t ns, const Work& work)
{
    if (is_idle())
        return;
    const Sample& sample = work.sample();
    std::vector<std::int64_t> counts = counts_of(*work.location, work.index, replay_.definitions.counted.size());
    for (std::int64_t& count : counts)
        if (count > 0)
            count = static_cast<std::int64_t>(Wide{count} * ns / sample.weight);
    const Place place = waits_.place_of(sample);
    const std::int64_t begin = (time - run_.begin).count();
    const CountInterval moment{begin,
                               ns,
                               begin,
                               begin,
                               {sample.offset, numbers_.number(place), CountOwner::Function},
                               {0, model::CallPathId::none().value, CountOwner::None},
                               location.value,
                               CountInterval::moment | scaled_flag(*work.location, work.index)};
    ThreadCounts& waiter = thread(location);
    waiter.add_moment(moment, counts);
    std::vector<EventAmount>& sums = amounts(place, waiter.process());
    for (std::size_t event = 0; event < sums.size(); ++event)
        sums[event].add(division::amount_of(moment, counts[event]));
}

void CountDivider::finish()
{
    tally_.counts = model::CountTable(replay_.definitions.has_samples ? replay_.definitions.counted.size() : 0);
    std::vector<const ThreadCounts*> threads;
    for (const auto& [location, counts] : threads_)
        threads.push_back(&counts);
    std::ranges::stable_sort(threads, {}, [](const ThreadCounts* counts) { return counts->process(); });
    for (const ThreadCounts* counts : threads)
        counts->append_to(tally_.counts);
}

ThreadCounts& CountDivider::thread(LocationId location)
{
    auto at = threads_.find(location);
    if (at == threads_.end())
        at = threads_
                 .emplace(std::piecewise_construct, std::tuple(location),
                          std::forward_as_tuple(replay_, waits_, run_, location))
                 .first;
    return at->second;
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

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/gaps.hpp"

#include "formats/functions/functions.hpp"
#include "replayer/order.hpp"
#include "replayer/peers/fault_rates.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace critpath::replayer
{

using model::Ns;

namespace
{

/// Calls `visit(interval, ns)` for the intervals that [begin, end) meets; `near`: where they may be.
template <class Interval, class Visit>
void for_each_overlap(const std::vector<Interval>& intervals, Ns begin, Ns end, std::size_t& near, Visit visit)
{
    near = count_first(
        intervals.size(), [&](std::size_t i) { return intervals[i].end <= begin; }, near);
    for (std::size_t i = near; i < intervals.size() && intervals[i].begin < end; ++i)
        visit(intervals[i], (std::min(end, intervals[i].end) - std::max(begin, intervals[i].begin)).count());
}

/// Those of a damaged trace may not be.
template <class Interval>
bool are_in_order(const std::vector<Interval>& intervals)
{
    return std::ranges::adjacent_find(intervals, [](const Interval& a, const Interval& b) {
               return a.end < a.begin || b.begin < a.end || b.end < b.begin;
           }) == intervals.end();
}

/// Leaves of `quiet` what no interval is in, around `time` or right before it.
template <class Interval>
void leave_quiet(const std::vector<Interval>& intervals, Ns time, std::size_t& near, model::Interval& quiet)
{
    near = count_first(
        intervals.size(), [&](std::size_t i) { return intervals[i].end <= time; }, near);
    if (near > 0)
        quiet.begin = std::max(quiet.begin, intervals[near - 1].end);
    if (near < intervals.size())
        quiet.end = std::min(quiet.end, intervals[near].begin);
}

}  // namespace

BetweenPolls::BetweenPolls(const model::Definitions& definitions)
{
    for (const model::CallingContext& context : definitions.contexts) {
        const auto what = functions::semantic_class(definitions.regions[context.region.value].function);
        is_poll_.push_back(functions::is_poll(what));
    }
}

Gaps::Gaps(const model::LocationTrace& location, const SameCalls& same)
    : location_(&location), same_(&same), calls_(location.calls), end_(calls_.size()),
      may_be_quiet_(are_in_order(location.off) && are_in_order(location.tool) && are_in_order(location.unrecorded))
{
    while (end_ > 0 && calls_.enter(end_ - 1) > location.end)
        --end_;
}

std::size_t Gaps::first_behind(Ns time)
{
    near_ = count_first(
        end_, [&](std::size_t i) { return calls_.enter(i) <= time; }, near_);
    return near_;
}

bool Gaps::find_quiet(Ns begin, Ns end)
{
    if (!may_be_quiet_)
        return false;
    quiet_ = {Ns::min(), Ns::max()};
    leave_quiet(location_->off, begin, near_off_, quiet_);
    leave_quiet(location_->tool, begin, near_tool_, quiet_);
    leave_quiet(location_->unrecorded, begin, near_unrecorded_, quiet_);
    return begin >= quiet_.begin && end <= quiet_.end;
}

/// Of `ns`, what is neither the collector's own nor unrecorded.
std::int64_t Gaps::carved(Ns begin, Ns end, std::int64_t ns)
{
    const auto carve = [&](const model::Interval&, std::int64_t part) { ns -= part; };
    for_each_overlap(location_->tool, begin, end, near_tool_, carve);
    for_each_overlap(location_->unrecorded, begin, end, near_unrecorded_, carve);
    return std::max<std::int64_t>(ns, 0);
}

/// Whose the page faults between two samples are matters where the thread did several things meanwhile: a loop that
/// touches new memory, a call, and one that calculates. (docs/ALGORITHM, "Explanations")
void Gaps::find_fault_rates()
{
    constexpr std::int64_t least_ns = 500;       // that a fault takes
    constexpr std::int64_t worth_a_look = 1000;  // what they take: a thousandth of the time
    constexpr std::size_t most_calls = 16;       // in an interval: behind more, all of them tell of the same mixture

    knows_faults_ = true;
    const auto& samples = location_->samples;
    std::int64_t faults = 0;
    for (const model::Sample& sample : samples)
        faults += sample.page_faults;
    if (faults == 0)
        return;
    const bool matters = faults > (location_->end - location_->begin).count() / worth_a_look / least_ns;
    expected_faults_.resize(samples.size());

    std::map<GapPlace, std::uint32_t> numbers;  // a call stands before no other one
    std::vector<FaultRates::Part> parts;
    FaultRates rates;
    const auto begin_of_interval = [&](std::size_t s) { return s > 0 ? samples[s - 1].time : location_->begin; };
    const auto find_parts = [&](std::size_t s) {
        parts.clear();
        const Ns begin = begin_of_interval(s), end = samples[s].time;
        const std::size_t first = first_behind(begin);
        if (!matters || first_behind(end) - first > most_calls)
            return;
        const auto add = [&](GapPlace what, Ns from, Ns to) {
            const std::int64_t ns = on_processor(std::max(begin, from), std::min(end, to));
            if (ns > 0)
                parts.push_back(
                    {numbers.try_emplace(what, static_cast<std::uint32_t>(numbers.size())).first->second, ns});
        };
        for (std::size_t i = first; i <= end_; ++i) {
            if (i > 0 && calls_.enter(i - 1) < end)
                add({place(i - 1).after, model::ContextId::none()}, calls_.enter(i - 1), calls_.leave(i - 1));
            if (i == end_ || begin_of(i) >= end)
                break;
            add(place(i), begin_of(i), end_of(i));
        }
    };
    for (std::size_t s = 0; s < samples.size(); ++s) {
        find_parts(s);
        if (!parts.empty())
            rates.add(samples[s].page_faults, parts);
    }
    rates.estimate();
    for (const auto& [what, number] : numbers)
        fault_rates_.emplace_back(what, rates.rate(number));
    for (std::size_t s = 0; s < samples.size(); ++s) {
        if (samples[s].page_faults == 0)
            continue;
        find_parts(s);
        for (const FaultRates::Part& part : parts)
            expected_faults_[s] += rates.rate(part.what) * static_cast<double>(part.ns);
        if (expected_faults_[s] <= 0)
            expected_faults_[s] = -static_cast<double>(on_processor(begin_of_interval(s), samples[s].time));
    }
}

double Gaps::fault_rate(GapPlace place) const
{
    const auto found = std::lower_bound(fault_rates_.begin(), fault_rates_.end(), place,
                                        [](const auto& rate, const GapPlace& of) { return rate.first < of; });
    return found != fault_rates_.end() && found->first == place ? found->second : 0;
}

/// Of `ns`, when it had one.
std::int64_t Gaps::without_off(Ns begin, Ns end, std::int64_t ns)
{
    for_each_overlap(location_->off, begin, end, near_off_,
                     [&](const model::OffProcessor&, std::int64_t part) { ns -= part; });
    return std::max<std::int64_t>(ns, 0);
}

/// By parts_of_a_fault.
std::int64_t Gaps::find_page_faults(GapPlace place, Ns begin, Ns end)
{
    const auto& samples = location_->samples;
    near_sample_ = count_first(
        samples.size(), [&](std::size_t s) { return samples[s].time < begin; }, near_sample_);
    if (near_sample_ > 0 && near_sample_ < samples.size() && samples[near_sample_].page_faults == 0)
        faultless_ = {samples[near_sample_ - 1].time, samples[near_sample_].time};
    std::int64_t faults = 0;
    for (std::size_t s = near_sample_; s < samples.size(); ++s) {
        // A sample tells of the time since the one before.
        const Ns since = s > 0 ? samples[s - 1].time : location_->begin;
        if (since >= end)
            break;
        if (expected_faults_[s] == 0)
            continue;
        const auto ns = static_cast<double>(on_processor(std::max(begin, since), std::min(end, samples[s].time)));
        const double part = ns * (expected_faults_[s] < 0 ? -1 : fault_rate(place)) / expected_faults_[s];
        const auto all = static_cast<double>(samples[s].page_faults) * static_cast<double>(parts_of_a_fault);
        faults += static_cast<std::int64_t>(all * part);
    }
    return faults;
}

Gap Gaps::measure(std::size_t i)
{
    const Ns begin = begin_of(i);
    const Ns end = end_of(i);
    // Where it came back in the call before it, what it finds in the caches is as little as it would be here.
    const Ns since = i == 0 ? begin : calls_.enter(i - 1);
    Gap gap;
    if (is_quiet(std::min(since, begin), end))
        gap.ns = std::max<std::int64_t>((end - begin).count(), 0);
    else
        measure_disturbed(since, begin, end, gap);
    if (!knows_faults_)
        find_fault_rates();
    if (!expected_faults_.empty())
        gap.page_faults = page_faults(i, begin, end);
    if (i < location_->counted.size())
        gap.counted = location_->counted[i];
    return gap;
}

/// What it took, and what of that it had no processor for. `since`: the enter of the call before.
void Gaps::measure_disturbed(Ns since, Ns begin, Ns end, Gap& gap)
{
    gap.ns = carved(begin, end);
    bool moved_in_call = false;
    if (meets(location_->off, since, end, near_off_))
        for_each_overlap(location_->off, since, end, near_off_, [&](const model::OffProcessor& off, std::int64_t) {
            const std::int64_t ns = (std::min(end, off.end) - std::max(begin, off.begin)).count();
            (off.preempted ? gap.preempted : gap.blocked) += std::max<std::int64_t>(ns, 0);
            if (off.end <= begin)
                moved_in_call = moved_in_call || off.migrated;
            else if (off.end <= end)
                gap.migrations += off.migrated ? parts_of_a_migration : 0;
        });
    gap.migrations += moved_in_call ? parts_of_a_migration : 0;
}

Gap Gaps::measure_behind_first(std::size_t i, const BetweenPolls& is_between_polls)
{
    Gap gap = measure(i);
    if (gap.blocked != 0 && is_between_polls(place(i)))
        gap.ns -= std::exchange(gap.blocked, 0);
    return gap;
}

/// Of those that are whole.
void Gaps::sum_up_blocks(const BetweenPolls& is_between_polls)
{
    for (std::size_t first = 0; first + block <= end_; first += block) {
        Gap sum = measure_behind_first(first, is_between_polls);
        for (std::size_t i = first + 1; i < first + block; ++i)
            sum.add(measure_behind_first(i, is_between_polls));
        blocks_.push_back(sum);
    }
    for (std::size_t first = 0; first + block <= blocks_.size(); first += block) {
        Gap sum = blocks_[first];
        for (std::size_t i = first + 1; i < first + block; ++i)
            sum.add(blocks_[i]);
        large_blocks_.push_back(sum);
    }
}

Gap Gaps::measure_span(std::size_t first, std::size_t end, const BetweenPolls& is_between_polls)
{
    constexpr std::size_t large = block * block;
    if (end - first > 2 * block && blocks_.empty())
        sum_up_blocks(is_between_polls);
    Gap sum = measure(first);
    for (std::size_t i = first + 1; i < end;) {
        if (i % large == 0 && i + large <= end) {
            sum.add(large_blocks_[i / large]);
            i += large;
        } else if (i % block == 0 && i + block <= end && !blocks_.empty()) {
            sum.add(blocks_[i / block]);
            i += block;
        } else {
            sum.add(measure_behind_first(i, is_between_polls));
            ++i;
        }
    }
    return sum;
}

}  // namespace critpath::replayer

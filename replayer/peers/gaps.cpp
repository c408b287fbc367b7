// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/gaps.hpp"

#include "formats/functions/functions.hpp"
#include "replayer/order.hpp"

#include <algorithm>
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
      has_page_faults_(std::ranges::any_of(location.samples, [](const auto& s) { return s.page_faults > 0; }))
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

/// Of `ns`, what is neither the collector's own nor unrecorded.
std::int64_t Gaps::carved(Ns begin, Ns end, std::int64_t ns)
{
    const auto carve = [&](const model::Interval&, std::int64_t part) { ns -= part; };
    for_each_overlap(location_->tool, begin, end, near_tool_, carve);
    for_each_overlap(location_->unrecorded, begin, end, near_unrecorded_, carve);
    return std::max<std::int64_t>(ns, 0);
}

namespace
{

/// Of the page faults since the sample before, those that lie in [begin, end) if they came evenly; by parts_of_a_fault.
std::int64_t part_in_gap(const model::Sample& sample, Ns since, Ns begin, Ns end)
{
    const std::int64_t length = (sample.time - since).count();
    const std::int64_t inside = (std::min(end, sample.time) - std::max(begin, since)).count();
    const auto faults = static_cast<double>(sample.page_faults) * static_cast<double>(parts_of_a_fault);
    return length > 0 && inside > 0
               ? static_cast<std::int64_t>(faults * static_cast<double>(inside) / static_cast<double>(length))
               : 0;
}

}  // namespace

std::int64_t Gaps::on_processor(Ns begin, Ns end)
{
    std::int64_t ns = std::max<std::int64_t>((end - begin).count(), 0);
    if (meets(location_->off, begin, end, near_off_))
        for_each_overlap(location_->off, begin, end, near_off_,
                         [&](const model::OffProcessor&, std::int64_t part) { ns -= part; });
    return std::max<std::int64_t>(ns, 0);
}

/// By parts_of_a_fault.
std::int64_t Gaps::page_faults(Ns begin, Ns end)
{
    const auto& samples = location_->samples;
    near_sample_ = count_first(
        samples.size(), [&](std::size_t s) { return samples[s].time < begin; }, near_sample_);
    std::int64_t faults = 0;
    for (std::size_t s = near_sample_; s < samples.size(); ++s) {
        // A sample tells of the time since the one before.
        const Ns since = s > 0 ? samples[s - 1].time : location_->begin;
        if (since >= end)
            break;
        if (samples[s].page_faults > 0)
            faults += part_in_gap(samples[s], since, begin, end);
    }
    return faults;
}

Gap Gaps::measure(std::size_t i)
{
    const Ns begin = begin_of(i);
    const Ns end = end_of(i);
    Gap gap;
    gap.ns = recorded(begin, end);
    // Where it came back in the call before it, what it finds in the caches is as little as it would be here.
    const Ns since = i == 0 ? begin : calls_.enter(i - 1);
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
    if (has_page_faults_)
        gap.page_faults = page_faults(begin, end);
    if (i < location_->counted.size())
        gap.counted = location_->counted[i];
    return gap;
}

Gap Gaps::measure_behind_first(std::size_t i, const BetweenPolls& is_between_polls)
{
    Gap gap = measure(i);
    if (is_between_polls(place(i)))
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

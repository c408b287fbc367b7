// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/gaps.hpp"

#include "replayer/order.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

/// Calls `visit(interval, ns)` for the intervals that [begin, end) meets; `near`: where they may be.
template <class Interval, class Visit>
void for_each_overlap(const std::vector<Interval>& intervals, Ns begin, Ns end, std::size_t& near, Visit visit)
{
    const bool is_behind_last = near == 0 || intervals[near - 1].end <= begin;
    if (is_behind_last && (near == intervals.size() || intervals[near].begin >= end))
        return;  // mostly
    near = count_first(
        intervals.size(), [&](std::size_t i) { return intervals[i].end <= begin; }, near);
    for (std::size_t i = near; i < intervals.size() && intervals[i].begin < end; ++i)
        visit(intervals[i], (std::min(end, intervals[i].end) - std::max(begin, intervals[i].begin)).count());
}

}  // namespace

Gaps::Gaps(const model::LocationTrace& location)
    : location_(&location), calls_(location.calls), end_(calls_.size()),
      has_page_faults_(std::ranges::any_of(location.samples, [](const auto& s) { return s.page_faults > 0; }))
{
    while (end_ > 0 && calls_.enter(end_ - 1) > location.end)
        --end_;
}

std::size_t Gaps::first_behind(Ns time)
{
    near_ = count_first(
        end_, [&](std::size_t i) { return calls_.enter(i) <= time; }, near_);
    return std::max<std::size_t>(near_, 1);
}

std::int64_t Gaps::recorded(Ns begin, Ns end)
{
    std::int64_t ns = std::max<std::int64_t>((end - begin).count(), 0);
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
    for_each_overlap(location_->off, begin, end, near_off_, [&](const model::OffProcessor& off, std::int64_t ns) {
        (off.preempted ? gap.preempted : gap.blocked) += ns;
    });
    if (has_page_faults_)
        gap.page_faults = page_faults(begin, end);
    if (i < location_->counted.size())
        gap.counted = location_->counted[i];
    return gap;
}

/// Looks for the next piece of a first thread.
bool GapsOnPath::begin_piece()
{
    for (; piece_ < path_.pieces.size(); ++piece_) {
        const Piece& piece = path_.pieces[piece_];
        const model::ProcessId process = replay_.definitions.locations[piece.location].process;
        if (replay_.definitions.processes[process.value].locations.front().value != piece.location)
            continue;
        process_ = replay_.index_of(process);
        gap_ = gaps_[process_].first_behind(Ns{piece.stretch});
        return in_piece_ = true;
    }
    return false;
}

std::optional<GapOnPath> GapsOnPath::next()
{
    while (in_piece_ || begin_piece()) {
        Gaps& gaps = gaps_[process_];
        const Ns begin{path_.pieces[piece_].stretch};
        const Ns end{path_.pieces[piece_].end};
        while (gap_ < gaps.end() && gaps.begin_of(gap_) < end) {
            const std::size_t gap = gap_++;
            const std::int64_t ns = gaps.recorded(std::max(begin, gaps.begin_of(gap)), std::min(end, gaps.end_of(gap)));
            GapOnPath& open = open_[process_];
            if (ns == 0)
                continue;
            if (open.ns > 0 && open.gap == gap) {
                open.ns += ns;
                continue;
            }
            const GapOnPath done = std::exchange(open, {process_, gap, ns});
            if (done.ns > 0)
                return done;
        }
        in_piece_ = false;
        ++piece_;
    }
    while (closing_ < open_.size())
        if (const GapOnPath& last = open_[closing_++]; last.ns > 0)
            return last;
    return std::nullopt;
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/kernel_events.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace critpath::archive
{

void KernelEvents::write_before(std::uint64_t time)
{
    cut_.reset();
    for (const OffInterval* off = next_off(); off != nullptr && off->begin < time; off = next_off()) {
        write_samples_before(off->begin);
        write_off(take_off(time));
    }
    write_samples_before(time);
}

void KernelEvents::write_around(std::uint64_t time)
{
    write_before(time);
    if (cut_) {
        rest_ = std::exchange(cut_, std::nullopt);
    }
}

void KernelEvents::write_until(std::uint64_t time)
{
    write_before(time);
    if (time < std::numeric_limits<std::uint64_t>::max()) {
        write_samples_before(time + 1);
    }
}

void KernelEvents::write_tool_before(std::uint64_t time)
{
    if (rest_ && rest_->begin < time) {
        rest_.reset();
    }
    while (off_ != off_end_ && off_->begin < time) {
        ++off_;
    }
    write_samples_before(time);
}

const OffInterval* KernelEvents::next_off() const
{
    if (rest_) {
        return &*rest_;
    }
    return off_ == off_end_ ? nullptr : &*off_;
}

OffInterval KernelEvents::take_one(std::uint64_t limit)
{
    const bool is_rest = rest_.has_value();
    OffInterval next = is_rest ? *std::exchange(rest_, std::nullopt) : *off_++;
    if (next.end > limit) {
        cut_ = next;
        cut_->begin = limit;
        next.end = limit;
        next.migrated = false;  // not yet
    }
    count(next, is_rest);
    return next;
}

// A thread does nothing while it is off, so that the interval nests in whatever the thread was doing. Only where
// records were lost can it seem to reach beyond `limit`, the next thing that the thread did.
OffInterval KernelEvents::take_off(std::uint64_t limit)
{
    OffInterval off = take_one(limit);
    while (can_bridge(off, limit)) {
        const OffInterval next = take_one(limit);
        totals_.bridged_ns += next.begin - off.end;
        ++totals_.bridges;
        off.end = next.end;
        if (next.migrated) {
            off.migrated = true;
            off.processor = next.processor;
        }
    }
    return off;
}

// Of the intervals that have not begun: behind a rest there is no other.
bool KernelEvents::can_bridge(const OffInterval& off, std::uint64_t limit) const
{
    if (off_ == off_end_ || off_->begin >= limit || !off.preempted || !off_->preempted ||
        off_->begin > off.end + largest_bridge) {
        return false;
    }
    const auto sample = std::find_if(sample_, samples_end_, [&](const SamplePoint& s) { return s.time >= off.end; });
    return sample == samples_end_ || sample->time > off_->begin;
}

void KernelEvents::write_off(const OffInterval& off)
{
    const OTF2_CallingContextRef context = off.preempted ? ids_.preempted : ids_.blocked;
    out_.enter_context(off.begin, context);
    write_samples_before(off.end);
    if (off.migrated) {
        out_.attach(otf2::Attribute::Processor, off.processor);
    }
    if (off.found_in != OffInterval::nowhere) {
        out_.attach(otf2::Attribute::BlockedIn, std::uint32_t{ids_.contexts[off.found_in]});
        if (off.waits_for != WaitsFor::Unknown) {
            out_.attach(otf2::Attribute::WaitsFor, static_cast<std::uint8_t>(off.waits_for));
        }
    }
    out_.leave_context(off.end, context);
}

void KernelEvents::count(const OffInterval& off, bool is_rest)
{
    (off.preempted ? totals_.preempted_ns : totals_.blocked_ns) += off.end - off.begin;
    (off.preempted ? totals_.preemptions : totals_.blocks) += is_rest ? 0 : 1;
    totals_.woken_ns += off.woken ? off.end - off.begin : 0;
    totals_.wake_ups += off.woken && !is_rest ? 1 : 0;
    totals_.migrations += off.migrated ? 1 : 0;
}

void KernelEvents::write_samples_before(std::uint64_t time)
{
    for (; sample_ != samples_end_ && sample_->time < time; ++sample_) {
        const SamplePoint& s = *sample_;
        write_counts(s);
        const std::optional<std::size_t> place = thread_.events.page_faults;
        const std::uint64_t faults = place ? counts_.since(*place) : 0;
        out_.sample(s.time, ids_.contexts[s.context], generator_, s.offset,
                    s.period == thread_.period ? std::nullopt : std::optional(s.period),
                    faults == 0 ? std::nullopt : std::optional(faults));
        ++samples_;
    }
}

// The record of what was counted, and what the sample behind it says of that.
void KernelEvents::write_counts(const SamplePoint& sample)
{
    counts_.advance(thread_.totals_of(sample), !sample.behind_respite);
    if (metric_ != otf2::none && counts_.counted() > 0) {
        sums_.clear();
        for (const std::size_t place : thread_.events.places) {
            sums_.push_back(counts_.sum(place));
        }
        out_.metric(sample.time, metric_, sums_);
    }
    if (counts_.counted() != SampleCounts::whole) {
        out_.attach(otf2::Attribute::Counted, counts_.counted());
    }
}

}  // namespace critpath::archive

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/run_delays.hpp"

#include <algorithm>
#include <cstddef>

namespace critpath::archive
{

namespace
{

__extension__ using Wide = unsigned __int128;

std::uint64_t length(const OffInterval& off)
{
    return off.end - off.begin;
}

/// The first one that ends behind `time`.
std::vector<OffInterval>::const_iterator behind(const std::vector<OffInterval>& intervals, std::uint64_t time)
{
    return std::upper_bound(intervals.begin(), intervals.end(), time,
                            [](std::uint64_t t, const OffInterval& off) { return t < off.end; });
}

/// What is left of a sum, of which each interval takes its part.
class Rest
{
public:
    Rest(std::uint64_t waited, std::uint64_t blocked) : waited_(std::min(waited, blocked)), blocked_(blocked) {}

    std::uint64_t take(std::uint64_t length)
    {
        const auto part = blocked_ == 0 ? 0 : static_cast<std::uint64_t>(Wide{waited_} * length / blocked_);
        waited_ -= part;
        blocked_ -= length;
        return part;
    }

private:
    std::uint64_t waited_, blocked_;
};

void append(std::vector<OffInterval>& out, const OffInterval& off, std::uint64_t waited)
{
    // It has been blocked, be it for a moment.
    const std::uint64_t wait = std::min(waited, length(off) - std::min<std::uint64_t>(length(off), 1));
    if (off.preempted || wait < least_run_delay) {
        out.push_back(off);
        return;
    }
    OffInterval blocked = off;
    blocked.end = off.end - wait;
    blocked.migrated = false;
    out.push_back(blocked);
    OffInterval woken;
    woken.begin = blocked.end;
    woken.end = off.end;
    woken.preempted = woken.woken = true;
    woken.processor = off.processor;
    woken.migrated = off.migrated;
    out.push_back(woken);
}

}  // namespace

void RunDelays::on_time(std::uint64_t time)
{
    if (in_gap_) {
        gaps_.push_back({last_time_, time});
    }
    in_gap_ = false;
    last_time_ = time;
}

void RunDelays::on_gap()
{
    in_gap_ = true;
}

bool RunDelays::has_gap(const RawRunDelay& delay) const
{
    const bool is_in_last = in_gap_ && delay.until > last_time_;
    const auto gap = std::upper_bound(gaps_.begin(), gaps_.end(), delay.since,
                                      [](std::uint64_t since, const Gap& g) { return since < g.end; });
    return is_in_last || (gap != gaps_.end() && gap->begin < delay.until);
}

std::vector<OffInterval> RunDelays::divide(const std::vector<OffInterval>& intervals) const
{
    std::vector<OffInterval> result;
    result.reserve(intervals.size());
    auto next = intervals.begin();
    for (const Span& span : spans(intervals)) {
        const auto first = std::max(next, behind(intervals, span.since));
        result.insert(result.end(), next, first);
        next = std::max(first, behind(intervals, span.until));
        std::uint64_t preempted = 0, blocked = 0;
        std::for_each(first, next,
                      [&](const OffInterval& off) { (off.preempted ? preempted : blocked) += length(off); });
        Rest rest(span.waited - std::min(span.waited, preempted), blocked);
        std::for_each(first, next,
                      [&](const OffInterval& off) { append(result, off, off.preempted ? 0 : rest.take(length(off))); });
    }
    result.insert(result.end(), next, intervals.end());
    return result;
}

// A thread that was preempted at a reading may have been moved to another processor since, where the kernel counts what
// it has waited so far, or may have come back at that moment: where it is one with the next reading, the sum is right.
std::vector<RunDelays::Span> RunDelays::spans(const std::vector<OffInterval>& intervals) const
{
    std::vector<Span> result;
    bool goes_on = false;
    for (std::size_t i = 0; i < delays_.size(); ++i) {
        const RawRunDelay& delay = delays_[i];
        if (goes_on) {
            result.back().until = delay.until;
            result.back().waited += delay.waited;
        } else {
            result.push_back({delay.since, delay.until, delay.waited});
        }
        Span& span = result.back();
        const auto open = behind(intervals, delay.until);
        const bool is_open = open != intervals.end() && open->preempted && open->begin < delay.until;
        goes_on = is_open && i + 1 < delays_.size() && delays_[i + 1].since == delay.until;
        span.is_known = span.is_known && !has_gap(delay);
        if (is_open && !goes_on) {
            span.waited -= std::min(span.waited, delay.until - open->begin);
        }
    }
    std::erase_if(result, [](const Span& span) { return !span.is_known; });
    return result;
}

}  // namespace critpath::archive

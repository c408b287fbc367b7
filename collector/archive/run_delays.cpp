// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/run_delays.hpp"

#include <algorithm>
#include <limits>

namespace critpath::archive
{

namespace
{

__extension__ using Wide = unsigned __int128;

std::uint64_t length(const OffInterval& off)
{
    return off.end - off.begin;
}

/// Sums of those intervals that end in one span.
struct Sums {
    std::uint64_t preempted = 0, blocked = 0;
};

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
    const auto behind = [&](std::uint64_t time) {
        return std::upper_bound(intervals.begin(), intervals.end(), time,
                                [](std::uint64_t t, const OffInterval& off) { return t < off.end; });
    };
    // The kernel counts a wait a moment before it says that it is over: it may be in the count of the span before.
    std::vector<std::uint64_t> waited(delays_.size());
    std::uint64_t too_much = 0, counted_from = 0;
    std::vector<Sums> sums(delays_.size());
    for (std::size_t i = delays_.size(); i-- > 0;) {
        const RawRunDelay& delay = delays_[i];
        std::for_each(behind(delay.since), behind(delay.until), [&](const OffInterval& off) {
            (off.preempted ? sums[i].preempted : sums[i].blocked) += length(off);
        });
        const std::uint64_t known = sums[i].preempted + (delay.until == counted_from ? too_much : 0);
        waited[i] = delay.waited - std::min(delay.waited, known);
        too_much = known - std::min(delay.waited, known);
        counted_from = delay.since;
        if (has_gap(delay)) {
            waited[i] = too_much = 0;
        }
    }
    std::vector<OffInterval> result;
    result.reserve(intervals.size());
    auto next = intervals.begin();
    for (std::size_t i = 0; i < delays_.size(); ++i) {
        const auto first = std::max(next, behind(delays_[i].since));
        result.insert(result.end(), next, first);
        next = std::max(first, behind(delays_[i].until));
        Rest rest(waited[i], sums[i].blocked);
        std::for_each(first, next,
                      [&](const OffInterval& off) { append(result, off, off.preempted ? 0 : rest.take(length(off))); });
    }
    result.insert(result.end(), next, intervals.end());
    return result;
}

}  // namespace critpath::archive

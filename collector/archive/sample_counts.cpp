// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/sample_counts.hpp"

#include "formats/otf2/definitions.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>

namespace critpath::archive
{

namespace
{

__extension__ using Wide = unsigned __int128;

constexpr std::string_view page_faults = "page-faults";

// Less than this of a time says too little about the rest of it.
constexpr std::uint32_t least_counted = SampleCounts::whole / 20;

template <std::size_t size>
std::string text_of(const char (&text)[size])
{
    return {text, strnlen(text, size)};
}

}  // namespace

EventGroup event_group(const spool::SampleFormat& format)
{
    EventGroup group;
    const std::string sampled = text_of(format.event);
    if (!otf2::is_time_event(sampled)) {
        group.places.push_back(0);
        group.names.push_back(sampled);
    }
    for (std::size_t i = 0; i < spool::max_events && format.events[i][0] != '\0'; ++i) {
        const std::string name = text_of(format.events[i]);
        if ((format.counted_events >> i & 1) == 0) {
            group.missing.push_back(name);
        } else if (name == page_faults) {
            group.page_faults = group.values++;
        } else {
            group.places.push_back(group.values++);
            group.names.push_back(name);
        }
    }
    return group;
}

// Counters may wrap. But two samples may be in the order of their times and not in that of their counts, if one
// interrupted the other: there is nothing between them.
bool SampleCounts::goes_back(const EventTotals& totals) const
{
    const auto falls = [](std::uint64_t now, std::uint64_t before) {
        return static_cast<std::int64_t>(now - before) < 0;
    };
    bool back = falls(totals.time_enabled, enabled_) || falls(totals.time_running, running_);
    for (std::size_t i = 0; i < before_.size(); ++i) {
        back = back || falls(totals.values[i], before_[i]);
    }
    return back;
}

void SampleCounts::advance(const std::optional<EventTotals>& totals, bool all_the_time)
{
    counted_ = 0;
    std::ranges::fill(scaled_, 0);
    const bool had_before = has_before_;
    has_before_ = totals.has_value();
    if (!totals) {
        return;
    }
    if (had_before && goes_back(*totals)) {
        has_before_ = true;
        return;
    }
    const std::uint64_t enabled = totals->time_enabled - enabled_;
    const std::uint64_t running = std::min(totals->time_running - running_, enabled);
    const auto counted = enabled == 0 ? whole : static_cast<std::uint32_t>(Wide{running} * whole / enabled);
    if (had_before && all_the_time && counted >= least_counted) {
        counted_ = counted;
        for (std::size_t i = 0; i < before_.size(); ++i) {
            const std::uint64_t count = totals->values[i] - before_[i];
            const Wide scaled = running == 0 ? Wide{count} : Wide{count} * enabled / running;
            constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max() / 4;
            scaled_[i] = static_cast<std::uint64_t>(std::min(scaled, Wide{most}));
            sums_[i] = std::min<std::int64_t>(sums_[i] + static_cast<std::int64_t>(scaled_[i]), most);
        }
    } else if (had_before && !all_the_time) {
        std::ranges::transform(totals->values, before_, scaled_.begin(), std::minus());
    }
    enabled_ = totals->time_enabled;
    running_ = totals->time_running;
    std::ranges::copy(totals->values, before_.begin());
}

}  // namespace critpath::archive

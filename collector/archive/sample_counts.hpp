// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what becomes of the events that were counted in the group of the sampled one: what a thread counted from each
// sample to the next, as if the processor had had a counter for all of them all the time. (docs/ALGORITHM, "Samples")
#pragma once

#include "formats/spool/record.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace critpath::archive
{

/// The events of a thread, and where their values stand in a sample.
struct EventGroup {
    std::size_t values = 1;                  // of a sample: of the sampled event, and of those that are counted with it
    std::optional<std::size_t> page_faults;  // they have an attribute of their own
    std::vector<std::size_t> places;         // of the others, and of the sampled event unless it is time
    std::vector<std::string> names;          // of these
    std::vector<std::string> missing;        // that were to be counted
};

EventGroup event_group(const spool::SampleFormat& format);

/// What a sample says of its group, since the events were opened; none: its values are not those of the group.
struct EventTotals {
    std::uint64_t time_enabled = 0, time_running = 0;  // ns
    std::span<const std::uint64_t> values;             // as EventGroup::values
};

/// Goes through the samples of one thread.
class SampleCounts
{
public:
    /// Millionths of a time.
    static constexpr std::uint32_t whole = 1'000'000;

    explicit SampleCounts(const EventGroup& group) : before_(group.values), scaled_(group.values), sums_(group.values)
    {
    }

    /// The next sample by time. `all_the_time`: the events were enabled since the sample before; else nobody knows how
    /// many there were.
    void advance(const std::optional<EventTotals>& totals, bool all_the_time = true);

    /// For so much of the time since the sample before, the events had counters; 0: too little, or nobody knows.
    [[nodiscard]] std::uint32_t counted() const { return counted_; }
    /// Since the sample before, scaled up to the whole time; nothing if that is not known; while the events were
    /// enabled, if they were not all the time.
    [[nodiscard]] std::uint64_t since(std::size_t place) const { return scaled_[place]; }
    /// The sum of these.
    [[nodiscard]] std::int64_t sum(std::size_t place) const { return sums_[place]; }

private:
    [[nodiscard]] bool goes_back(const EventTotals& totals) const;

    bool has_before_ = true;  // counting began at 0
    std::uint64_t enabled_ = 0, running_ = 0;
    std::uint32_t counted_ = whole;
    std::vector<std::uint64_t> before_, scaled_;
    std::vector<std::int64_t> sums_;
};

}  // namespace critpath::archive

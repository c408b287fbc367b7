// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the totals of events, which stand before samples, become what a thread counted from one to the next.
#pragma once

#include "analysis/model/trace.hpp"
#include "formats/otf2/reader.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace critpath::replayer::load
{

/// Of each value of a metric class: its place in model::Definitions::counted.
using EventPlaces = std::vector<std::size_t>;

/// Where these are told by an attribute of the sample.
inline constexpr const char* page_faults_event = "page-faults";

/// The events of one location, in the order of its records.
class EventReader
{
public:
    /// The record before a sample; false if it is no such record.
    bool read(model::Ns now, const otf2::event::Metric& record, const EventPlaces& places, std::size_t events)
    {
        if (record.size != places.size())
            return false;
        totals_.resize(events, 0);
        since_.assign(events, model::SampleCounts::unknown);
        for (std::size_t i = 0; i < places.size(); ++i) {
            const bool is_whole = record.types[i] == OTF2_TYPE_INT64 || record.types[i] == OTF2_TYPE_UINT64;
            const std::int64_t value = is_whole ? record.values[i].signed_int : model::SampleCounts::unknown;
            std::int64_t& total = totals_[places[i]];
            if (value >= total) {
                since_[places[i]] = value - total < too_many ? value - total : model::SampleCounts::unknown;
                total = value;
            }
        }
        read_at_ = now;
        return true;
    }

    /// By event, of the sample at `now`, which is the next one; unknown where no record stands before it.
    std::span<std::int64_t> take(model::Ns now, std::size_t events)
    {
        if (read_at_ != now)
            since_.assign(events, model::SampleCounts::unknown);
        read_at_.reset();
        return since_;
    }

private:
    static constexpr std::int64_t too_many = std::int64_t{1} << 44;  // hours of a processor: damage

    std::optional<model::Ns> read_at_;
    std::vector<std::int64_t> totals_;  // by event
    std::vector<std::int64_t> since_;   // of the newest record
};

}  // namespace critpath::replayer::load

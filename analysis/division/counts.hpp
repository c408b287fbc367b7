// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how what threads counted is divided at the borders of segments and of windows: for the replay, in the whole run,
// and for a reader of its result, in any part of it. (formats/FORMAT.md, "What was counted on the path")
#pragma once

#include "analysis/division/windows.hpp"
#include "analysis/model/counts.hpp"
#include "analysis/model/path.hpp"
#include "analysis/model/profile.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace critpath::division
{

/// What of an interval lies in a segment, and whose it is there.
struct CountShare {
    std::int64_t begin, end;  // ns since the first moment of the run
    std::uint64_t address;
    std::uint32_t call_path;  // in the numbers of the segment and of the interval; none(): [not sampled]
    bool is_known;
};

/// Nothing if they do not meet, if segments of this kind have no counts, or if those of others come in its place.
/// Intervals that are moments have a place of their own, and no segment.
std::optional<CountShare> share_of(const model::CountInterval& interval, const model::Segment& segment);

/// Of `count`, one of the interval's, what is of [begin, end) in it: the amounts of parts add up to that of the whole.
model::EventAmount amount_of(const model::CountInterval& interval, std::int64_t count, std::int64_t begin,
                             std::int64_t end, bool is_known);
/// That of a moment.
model::EventAmount amount_of(const model::CountInterval& moment, std::int64_t count);

/// What was counted at one place.
struct PlaceCounts {
    model::CallPathId call_path;
    std::uint32_t location;                  // LocationId
    std::uint64_t address;                   // of a sample in its binary; 0: not known, or in a call
    std::vector<model::EventAmount> events;  // by Profile::events
};

/// By window, sorted by (call path, location, address); windows follow each other in time. `segments` and `records` are
/// those of `profile`, the whole run's. Throws std::out_of_range if they do not fit to it.
std::vector<std::vector<PlaceCounts>> divide_counts(const model::Profile& profile,
                                                    std::span<const model::Segment> segments,
                                                    const model::CountRecords& records,
                                                    std::span<const Window> windows);

}  // namespace critpath::division

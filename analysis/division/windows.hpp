// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a part of the run is divided among functions: as the replay divides the whole of it, from the segments of
// the path in that part and what of them belongs to places of its own. (docs/ALGORITHM, "Samples")
#pragma once

#include "analysis/division/not_sampled.hpp"
#include "analysis/model/attribution.hpp"
#include "analysis/model/path.hpp"
#include "analysis/model/profile.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace critpath::division
{

/// [begin, end), ns since the first moment of the run.
struct Window {
    std::int64_t begin = 0, end = 0;
    [[nodiscard]] std::int64_t length() const { return end - begin; }
};

/// The part of a segment that lies in the window.
constexpr std::int64_t length_in(const Window& window, std::int64_t begin, std::int64_t end)
{
    const std::int64_t first = begin > window.begin ? begin : window.begin;
    const std::int64_t last = end < window.end ? end : window.end;
    return last > first ? last - first : 0;
}

/// What one window is divided into, before samples and path time are made to agree: the sums of windows are those of
/// the window that they make up.
struct Parts {
    Window window;
    std::vector<model::CallPathTime> path;      // sorted by (call path, process); without [not sampled]
    std::vector<model::AddressTime> addresses;  // sorted by (call path, address)
    std::vector<model::KindTime> kinds;         // sorted by (kind, function, process)
    std::vector<std::int64_t> process_path_ns;  // by ProcessId
    std::vector<SampledTime> coverage;          // by ProcessId; of a trace with samples
    std::uint64_t independent_samples = 0;
    std::vector<model::CallPathTime> totals;  // as Profile::totals, as far as these are known there (totals.hpp)
};

struct PathRecords {
    std::span<const model::Segment> segments;
    std::span<const model::Attribution> attributions;
};

/// Whose addresses count; without one, those of all.
using HasRank = std::function<bool(model::ProcessId)>;

/// By window; windows follow each other in time. `records` are those of `profile`, the whole run's. Throws
/// std::out_of_range if they do not fit to it.
std::vector<Parts> divide(const model::Profile& profile, const PathRecords& records, std::span<const Window> windows,
                          const HasRank& has_rank = {});

/// Makes `profile` that of the window: path, addresses and kinds, the path time of processes, and the facts `path_ns`
/// and `independent_samples`, and totals. What is known of the whole run only stays as it is, but addresses off the
/// path and stretches, which go.
void restrict_to(model::Profile& profile, Parts parts);

}  // namespace critpath::division

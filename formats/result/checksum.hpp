// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the numbers by which a reader knows that the tables and the segments are still those that were written.
#pragma once

#include "analysis/model/attribution.hpp"
#include "analysis/model/counts.hpp"
#include "analysis/model/path.hpp"
#include "analysis/model/profile.hpp"
#include "analysis/model/totals.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace critpath::result
{

/// The fact that holds the checksum in the database; no part of a Profile.
inline constexpr std::string_view checksum_fact = "checksum";

/// Over all content of `profile` but the fact `checksum`.
std::int64_t checksum(const model::Profile& profile);

/// The facts that hold the checksums of segments.bin, attribution.bin, counts.bin, totals.bin and computed.bin; part of
/// a Profile as all others.
inline constexpr std::string_view segments_checksum_fact = "segments_checksum";
inline constexpr std::string_view attribution_checksum_fact = "attribution_checksum";
inline constexpr std::string_view counts_checksum_fact = "counts_checksum";
inline constexpr std::string_view totals_checksum_fact = "totals_checksum";
inline constexpr std::string_view computed_checksum_fact = "computed_checksum";

/// Of segments of a path, `first` the number of the first of them. That of the whole path is the sum of those of its
/// parts, modulo 2^64: each process sums up what it writes.
std::uint64_t checksum(std::span<const model::Segment> segments, std::uint64_t first);
/// Likewise, of attributions, of counts, of totals, and of what threads compute.
std::uint64_t checksum(std::span<const model::Attribution> attributions, std::uint64_t first);
std::uint64_t checksum(const model::CountRecords& records, std::uint64_t first);
std::uint64_t checksum(std::span<const model::TotalPart> totals, std::uint64_t first);
std::uint64_t checksum(std::span<const model::ComputedParts> computed, std::uint64_t first);

}  // namespace critpath::result

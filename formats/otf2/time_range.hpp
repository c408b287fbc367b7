// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which times are taken for those of a run: what writes a trace must not write what its reader refuses.
#pragma once

#include <cstdint>

namespace critpath::otf2
{

/// No clock shows more, in ticks or in ns (146 years): what does is damaged. Sums and differences of two such times
/// that are within 64 bits.
inline constexpr std::int64_t farthest_time = std::int64_t{1} << 62;

/// From the first event to the last, in ns: more than two years.
inline constexpr std::int64_t longest_run = std::int64_t{1} << 56;

}  // namespace critpath::otf2

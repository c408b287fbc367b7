// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how numbers are written and read: seconds, percent, counts.
#pragma once

#include "analysis/report/table.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace critpath::report
{

/// Decimals that show times of up to `largest_ns` with about five digits.
int decimals_for(std::int64_t largest_ns);

/// Rounded to `decimals` (0 to 9), half away from zero.
std::string seconds_text(std::int64_t ns, int decimals);

/// With the unit in which it has few digits: "1.003 ms", "12.35 s".
std::string duration_text(std::int64_t ns);

/// All nine decimals, without zeros at the end: what CSV and JSON hold.
std::string exact_seconds(std::int64_t ns);

/// `ns` of `whole_ns`; 0 of nothing.
double part(std::int64_t ns, std::int64_t whole_ns);

/// The same part of `ns` as `part_ns` is of `whole_ns`.
std::int64_t scaled(std::int64_t ns, std::int64_t part_ns, std::int64_t whole_ns);

/// "12.3"; "<0.1" for what is not zero but rounds to it.
std::string percent_text(double share);

/// "41.2 ± 1.9", "1.2 +1.9 -0.7" if the sides of the interval differ by more than a tenth, or "12.3 exact": the value
/// is always as wide.
std::string estimate_text(const Estimate& estimate);

/// "58 %".
std::string whole_percent(double share);

/// In percent, with the digits that CSV and JSON hold.
std::string exact_percent(double share);

/// With a separator every three digits: "1,234,567".
std::string count_text(std::uint64_t count);

/// "3 segments", "1 segment".
std::string counted(std::uint64_t count, std::string_view noun);

/// A number with a unit (ns, us, ms, s; s if there is none) as ns; nothing if `text` is no such thing.
std::optional<std::int64_t> parse_duration(std::string_view text);

/// "40%" as 0.4; nothing if `text` is not 0 to 100 percent.
std::optional<double> parse_percent(std::string_view text);

}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how path time by address becomes path time by source line.
#pragma once

#include "analysis/report/hotspots.hpp"
#include "formats/binary/source_lines.hpp"

#include <string>
#include <string_view>

namespace critpath::report
{

/// The binary of a row as it was recorded.
binary::Module recorded_module(const model::Profile& profile, const std::string& path);

/// An item a source line, function, and function that it is inlined into; what belongs to no line stays one item a
/// function. If ranks are selected, the addresses of the profile must be theirs (window.hpp).
Hotspots by_line(const model::Profile& profile, const Selection& selection, binary::SourceLines& lines);

/// Sentences on the binaries whose lines are not known, the one with most path time first; and what to do about it.
std::vector<std::string> missing_lines_notes(const model::Profile& profile, const Selection& selection,
                                             binary::SourceLines& lines);

}  // namespace critpath::report

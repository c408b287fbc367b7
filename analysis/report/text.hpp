// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns text on a terminal: how wide UTF-8 is, and how it is shortened.
#pragma once

#include "formats/support/terminal.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::report
{

/// Stands for what is left out.
inline constexpr std::string_view ellipsis = "…";

/// Columns that `text` takes on a terminal. `text` must be printable().
std::size_t display_width(std::string_view text);

/// `text` in at most `width` columns, with an ellipsis in its middle if it is longer.
std::string shorten_middle(std::string_view text, std::size_t width);

/// `text` in at most `width` columns, with an ellipsis at its end if it is longer.
std::string shorten_end(std::string_view text, std::size_t width);

/// The last component of a path; the path itself if there is none.
std::string_view basename(std::string_view path);

/// "cpreport hotspots --by line cp-app-1": to copy into a shell. `arguments`: those before the trace, which is always
/// named: without it, it would be the newest one.
std::string command_line(std::string_view arguments, std::string_view trace);

/// The one of `words` that the user most likely meant by `typed`; empty if none is near.
std::string nearest_word(std::string_view typed, const std::vector<std::string>& words);

}  // namespace critpath::report

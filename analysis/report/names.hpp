// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how names of functions become short without losing what tells them apart.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace critpath::report
{

/// A function's name in at most `width` columns: first without what the compiler says of a clone, then its parameters
/// and template arguments become an ellipsis, then its middle.
std::string shorten_name(std::string_view name, std::size_t width);

/// Likewise of several that are seen together, by name: those that would read the same show where they begin to differ.
/// Before a name, there may be lines that draw a tree.
std::map<std::string, std::string> shorten_names(const std::set<std::string>& names, std::size_t width);

}  // namespace critpath::report

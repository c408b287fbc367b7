// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how much of a path is shown where others may have the same end.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace critpath::naming
{

/// The last component and so many directories before it; the whole path if it has no more.
std::string_view path_tail(std::string_view path, std::size_t directories);

/// By path, its last component with as many directories, `least` or more, as tell it from the others: "a/util.c" of
/// "/src/a/util.c" beside "/src/b/util.c".
std::map<std::string, std::string> path_tails(const std::set<std::string>& paths, std::size_t least = 0);

}  // namespace critpath::naming

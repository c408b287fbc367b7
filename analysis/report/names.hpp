// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how names of functions become short without losing what tells them apart.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace critpath::report
{

/// A function's name in at most `width` columns: first without the type that it returns and what the compiler says of a
/// clone, then its parameters and template arguments become an ellipsis, then its outer namespaces. Its own identifier
/// is cut, in its middle, only where it has no room alone.
std::string shorten_name(std::string_view name, std::size_t width);

/// Likewise of several that are seen together, by name: each has what tells it from the others, so that it reads as
/// (seen_names.hpp) none of them. What a table shows may be more than a name: the lines of a tree, a chain of calls
/// ("main > … > solve") whose ends both stay, and where a call is ("MPI_Send at halo.c:12").
/// `others`: names that are seen beside these, which have room.
std::map<std::string, std::string> shorten_names(const std::set<std::string>& names, std::size_t width,
                                                 const std::set<std::string>& others = {});

}  // namespace critpath::report

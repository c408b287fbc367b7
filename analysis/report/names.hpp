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

/// The qualified name in a demangled one, as a developer would write it: without the type that is returned, parameters,
/// template arguments and what the compiler says of a clone: "grid::Solver::step" of "void grid::Solver::step<3>(int)".
std::string qualified_name(std::string_view function);

/// Of a demangled name: a function of the C++ library, which has its templates compiled into whoever uses them.
bool is_of_cpp_library(std::string_view function);

/// A function's name in at most `width` columns: first without what the compiler says of a clone, then its parameters
/// and template arguments become an ellipsis, then its middle.
std::string shorten_name(std::string_view name, std::size_t width);

/// Likewise of several that are seen together, by name: those that would read the same show where they begin to differ.
/// Before a name, there may be lines that draw a tree.
std::map<std::string, std::string> shorten_names(const std::set<std::string>& names, std::size_t width);

}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a demangled name of a function consists of.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::report
{

/// True if the '<' or '>' at `at` belongs to the name of an operator or to "->".
bool is_operator_sign(std::string_view name, std::size_t at);

/// A namespace, class, enclosing function, or the function itself: "compute", "<double>" and, of one that encloses
/// another, "(int) const".
struct NameComponent {
    std::string identifier{};
    std::string arguments{};  // of its template
    std::string call{};
};

/// "void grid::Solver<3>::step(int) const [clone .isra.0]" without the type that is returned.
struct FunctionName {
    std::vector<NameComponent> components{};  // outermost first; never empty
    std::string parameters{};                 // with parentheses
    std::string qualifiers{};                 // " const"
    std::string suffix{};                     // what the compiler says of a clone, the file of a static function, twins
};

/// Nothing if it is none: a chain of calls, a place, a name in brackets, or one whose brackets do not match.
std::optional<FunctionName> parse_function_name(std::string_view name);

/// How many of the last components name the function: an operator, a lambda or a constructor is nothing without what it
/// belongs to.
std::size_t own_components(const FunctionName& name);

/// As it was written, without the outermost `dropped` components.
std::string text_of(const FunctionName& name, std::size_t dropped = 0);

/// The qualified name in a demangled one, as a developer would write it: without the type that is returned, parameters,
/// template arguments and what the compiler says of a clone: "grid::Solver::step" of "void grid::Solver::step<3>(int)".
std::string qualified_name(std::string_view function);

/// Of a demangled name: a function of the C++ library, which has its templates compiled into whoever uses them.
bool is_of_cpp_library(std::string_view function);

}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way from the names that compilers give to functions back to those in the source.
#pragma once

#include <string>
#include <string_view>

namespace critpath::binary
{

/// What the name of a function is followed by for the stub that leads to it (plt_stubs.hpp).
inline constexpr std::string_view stub_ending = "@plt";

/// As a programmer would write it: C++ by the Itanium ABI, and procedures of Fortran modules as GNU Fortran names them
/// (`__solver_MOD_step` is `solver::step`), with the ending of a stub. Every other name as it is.
std::string demangle(const std::string& name);

/// Without what compilers add for copies of a function, demangled or not: "inner.0.constprop.1" is "inner.0",
/// "f(int) [clone .isra.0]" is "f(int)".
std::string_view without_clones(std::string_view name);

}  // namespace critpath::binary

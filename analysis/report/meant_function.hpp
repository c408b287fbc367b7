// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which function the user means by a name, and why one has no lines.
#pragma once

#include "analysis/report/hotspots.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace critpath::report
{

/// The one of `known` that is meant by `wanted`: the one of that name, or else the only one that is called so but for
/// its parameters, or the end of a qualified name, or as Fortran and its compilers spell it (`SOLVE` for `solve_`), or
/// one of a qualified name that lacks namespaces, or else the only one that has it in its name. One without lines
/// stands for the only function that was made of its parallel regions. Throws Failure(Usage) that names some if there
/// are several, and says why it is none of them if the run has another function, or time that belongs to none, that is
/// called so; and if nothing is, `hint()`. `trace`: as the user may type it.
std::string meant_function(const model::Profile& profile, const Selection& selection,
                           const std::set<std::string>& known, const std::string& wanted, std::string_view trace,
                           const std::function<std::string()>& hint = {});

/// To be typed, one for each.
std::string annotate_commands(const std::set<std::string>& functions, std::string_view trace);

}  // namespace critpath::report

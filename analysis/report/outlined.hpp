// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which functions compilers have made of the parallel regions (OpenMP) of another one.
#pragma once

#include "analysis/model/profile.hpp"

#include <set>
#include <string>

namespace critpath::report
{

/// Those of `names` that are made of `function`: "solve._omp_fn.0" (GCC) and "solve.omp_outlined" (Clang) by their
/// names; ".omp_outlined." of older compilers, which says no more, by who calls it.
std::set<std::string> outlined_of(const std::string& function, const std::set<std::string>& names,
                                  const model::Profile& profile);

}  // namespace critpath::report

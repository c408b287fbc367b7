// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is said of binaries that were built anew, or stripped, between two runs: their functions may be the same
// ones without having the same names.
#pragma once

#include "analysis/report/comparison.hpp"

#include <optional>
#include <string>
#include <vector>

namespace critpath::report
{

/// Which binaries are the same build in both runs, of one build-id each.
Builds builds_of(const model::Profile& before, const model::Profile& after);

/// Sentences on binaries with 1 % of the path in each run. `program`: as for compare().
std::vector<std::string> build_notes(const model::Profile& before, const model::Profile& after,
                                     const std::optional<Renamed>& program);

}  // namespace critpath::report

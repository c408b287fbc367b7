// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which functions the computation of a stretch is in. One that makes both calls around it may have returned in
// between, and have none of it, as a wrapper of an MPI function has. (docs/ALGORITHM, "Explanations")
#pragma once

#include "analysis/model/profile.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace critpath::report
{

/// Functions from the one that is called first, which mostly is main, to the one that the call path ends in.
std::vector<model::CallPathId> way_to(const model::Profile& profile, model::CallPathId call_path);

/// Of the functions that both calls around the stretch with this index were made by, outermost first, so many have
/// nearly all of what is computed in between.
std::size_t functions_around(const model::Profile& profile, std::size_t stretch);

/// Likewise, all functions that are anywhere in both call paths, not only where these begin alike.
std::set<const model::Row*> all_around(const model::Profile& profile, std::size_t stretch);

}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns hotspots with the time of all that they call, directly or not, and what is not known of that: who called a
// function, and in which one a thread was blocked. (docs/ALGORITHM, "Samples")
#pragma once

#include "analysis/report/hotspots.hpp"

#include <vector>

namespace critpath::report
{

/// An item a function, by RowId. Of a selected module, the functions, with all that they call in any module.
/// `is_inlined`: by CallPathId, as of a CallTree. Empty: none is.
Hotspots by_function_inclusive(const model::Profile& profile, const Selection& selection = {},
                               const std::vector<bool>& is_inlined = {});
/// An item a call path, by CallPathId. Of a selected module, what its functions have themselves, below their callers.
Hotspots by_call_path(const model::Profile& profile, const Selection& selection = {});

}  // namespace critpath::report

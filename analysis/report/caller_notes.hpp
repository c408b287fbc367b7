// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is said of callers that are not known, and by which way of recording they would be.
#pragma once

#include "analysis/report/hotspots.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace critpath::report
{

/// What call paths begin with that are cut off (otf2::unknown_callers_region).
inline constexpr std::string_view unknown_callers = "[unknown callers]";

/// Functions of the application, which may be among the callers that are not known.
bool can_call(const Hotspot& item);

/// Sentences on callers that are not known, and on those that are guessed; none where it makes no difference.
/// `hotspots`: of `profile`, whose call paths are as they were recorded, with the time of what they call; `selection`
/// is what they were selected by.
std::vector<std::string> caller_notes(const Hotspots& hotspots, const model::Profile& profile,
                                      const Selection& selection = {});

}  // namespace critpath::report

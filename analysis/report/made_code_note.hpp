// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is said of functions that were made while the program ran, as those of Python are: their time is in the
// interpreter, below them.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/hotspots.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace critpath::report
{

/// Which view shows them, where 5 % of the path of the selected ranks is in what they call. `trace`: as the user may
/// type it.
std::optional<std::string> made_code_note(const model::Profile& profile, const Selection& selection,
                                          std::string_view trace);

}  // namespace critpath::report

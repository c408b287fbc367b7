// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is said of functions that have no names.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/hotspots.hpp"

#include <string>
#include <vector>

namespace critpath::report
{

/// Of binaries whose functions are called by their places ("app+0x1234"), where these have 5 % of what samples have
/// found on the selected path, and 1 % of the path: how much that is, and how they get names. The largest ones only.
/// Likewise of binaries of which nothing could be read when the trace was written, together; and of functions written
/// in Python, if none of the run has a name.
std::vector<std::string> unnamed_notes(const model::Profile& profile, const Selection& selection = {});

}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a view that has no call paths says where the threads of the path were blocked.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/report/hotspots.hpp"

#include <optional>
#include <string>

namespace critpath::report
{

/// "[blocked]: 0.9 s in clock_nanosleep, called by write_checkpoint": where threads of the selected ranks were found,
/// outside of MPI, with at least 1 % of their path. Where a tenth or more of that is only taken to be there, as a wait
/// of about the same length was, it says no more than what was seen, since who looks seldom may take all waits for one
/// of several that take turns: "seen for 2 ms in open; where the other 1.7 s were, nobody looked".
std::optional<std::string> blocked_note(const model::Profile& profile, const Selection& selection = {});

}  // namespace critpath::report

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
/// outside of MPI, with at least 1 % of their path. Nothing where nobody looked. Of a place where they were found, a
/// part may be taken to be there: "about 0.9 s", if that is a tenth or more.
std::optional<std::string> blocked_note(const model::Profile& profile, const Selection& selection = {});

}  // namespace critpath::report

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a view that has no call paths says where the threads of the path were blocked.
#pragma once

#include "analysis/model/profile.hpp"

#include <optional>
#include <string>

namespace critpath::report
{

/// "[blocked]: 0.9 s in clock_nanosleep, called by write_checkpoint": where threads were found, outside of MPI, with at
/// least 1 % of the path. Nothing where nobody looked.
std::optional<std::string> blocked_note(const model::Profile& profile);

}  // namespace critpath::report

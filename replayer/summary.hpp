// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the words with which a replay ends.
#pragma once

#include "analysis/model/profile.hpp"

#include <string>

namespace critpath::replayer
{

/// Makespan, what the path consists of, what was odd about the trace (only what there is), and the next command.
std::string summary(const model::Profile& profile, const std::string& trace);

}  // namespace critpath::replayer

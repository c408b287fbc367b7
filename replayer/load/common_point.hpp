// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how far an incomplete recording can be analyzed: up to the common point, the last moment up to which it is known
// of every process what it did. (docs/ALGORITHM, "Recordings that end too early")
#pragma once

#include "replayer/analysis.hpp"

namespace critpath::replayer::load
{

/// Cuts the traces at the common point and sets Replay::incomplete. Does nothing where all recordings are complete.
/// Calls that were entered behind the point stay in the arrays: what was posted before it may be completed there.
/// Collective over `replay.comm`.
void cut_at_common_point(Replay& replay);

}  // namespace critpath::replayer::load

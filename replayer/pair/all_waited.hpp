// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which kinds of calls have all waited for what they completed, so that the shortest of them does not tell what
// such a call costs. (docs/ALGORITHM, "What the trace teaches about the machine")
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/pair/pair.hpp"
#include "replayer/rules/calibration.hpp"

#include <vector>

namespace critpath::replayer
{

/// Bounds the costs in `calibration.calls` of such calls, as far as it shows before transfer times are known: all end
/// a like time after the last of what they complete began, for however long they were there. Collective over
/// `replay.comm`.
void bound_by_starts(const Replay& replay, const std::vector<ProcessPairs>& pairs, rules::Calibration& calibration);

/// Likewise by the transfer times in `calibration`. Collective over `replay.comm`.
void bound_by_arrivals(const Replay& replay, const std::vector<ProcessPairs>& pairs, rules::Calibration& calibration);

}  // namespace critpath::replayer

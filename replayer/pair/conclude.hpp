// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the pairs of a trace teach, whoever has made them: the eager limit and the transfer times of the machine,
// and the counts of what found no partner.
#pragma once

#include "replayer/pair/pair.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// Puts what `processes` teach into `calibration` and counts over all processes. `unmatched_sends`: those that this
/// process knows of, each known to one process. Collective over `replay.comm`.
Pairs conclude(const Replay& replay, std::vector<ProcessPairs> processes, std::uint64_t unmatched_sends,
               rules::Calibration& calibration);

}  // namespace critpath::replayer

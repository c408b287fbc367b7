// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the messages of a trace teach about the time that transfers take. (docs/ALGORITHM, "What the trace teaches
// about the machine")
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/pair/pair.hpp"
#include "replayer/rules/calibration.hpp"

#include <array>
#include <vector>

namespace critpath::replayer
{

/// By link. `known`: costs of calls and eager limits. Collective over `replay.comm`.
std::array<rules::TransferTime, rules::links>
learn_transfers(const Replay& replay, const std::vector<ProcessPairs>& pairs, const rules::Calibration& known);

}  // namespace critpath::replayer

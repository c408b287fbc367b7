// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the stretches that are explained are time of: which functions the path is in there, and how long its thread
// waits for others of its process. (docs/ALGORITHM, "Explanations")
#pragma once

#include "replayer/attribute/tally.hpp"
#include "replayer/peers/peers.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// Adds Tally::stretch_code, from the attributions in the gaps of the owned processes; `origin`: of their times.
/// Returns, by stretch, Stretch::peers_spinning_ns, the same on all processes. Collective over `replay.comm`.
std::vector<std::int64_t> add_code(const Replay& replay, const Stretches& stretches, model::Ns origin, Tally& tally);

}  // namespace critpath::replayer

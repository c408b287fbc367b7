// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the stretches that are explained are time of: which functions the path is in there, and how long its thread
// waits for others of its process. (docs/ALGORITHM, "Explanations")
#pragma once

#include "replayer/attribute/sample_weights.hpp"
#include "replayer/attribute/stretch_finder.hpp"
#include "replayer/attribute/tally.hpp"
#include "replayer/peers/peers.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// What so many gaps as are on the path have in the mean of so many others, which have `ns` together.
inline std::int64_t of_others(std::int64_t ns, std::int64_t on_path, std::int64_t others)
{
    if (others <= 0 || ns <= 0)
        return 0;
    return rounded(static_cast<double>(ns) * static_cast<double>(on_path) / static_cast<double>(others));
}

/// Of a stretch: what as many gaps at its place that are not on the path waited for other threads of their processes.
struct ThreadsOfPeers {
    std::int64_t spinning_ns = 0;   // Stretch::peers_spinning_ns
    std::int64_t preempted_ns = 0;  // Stretch::peers_threads_preempted_ns
};

/// Adds Tally::stretch_code, from the attributions in the gaps of the owned processes; `origin`: of their times,
/// `finder`: of `stretches`. Returns, by stretch, the same on all processes. Collective over `replay.comm`.
std::vector<ThreadsOfPeers> add_code(const Replay& replay, const Stretches& stretches, StretchFinder& finder,
                                     model::Ns origin, const SampleWeights& weights, Tally& tally);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what peers do while the path is in a stretch: in their gaps at its place, of the same occurrences.
// (docs/ALGORITHM, "Explanations")
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/attribute/sample_weights.hpp"
#include "replayer/attribute/stretch_finder.hpp"
#include "replayer/attribute/tally.hpp"
#include "replayer/restore/restore.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::replayer
{

struct CodeOfPeers {
    /// By the stretch's index: functions, and where they are blocked for something else than threads of theirs; of the
    /// owned processes, ns.
    std::map<std::pair<std::uint32_t, Place>, std::int64_t> own;
    /// By the stretch's index, RegionId and address: of that, what samples tell.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::int64_t> addresses;
    /// By the stretch's index: gaps of all processes that this is of.
    std::vector<std::int64_t> gaps;
    /// Likewise, so many gaps with all of their samples tell as much: fewer where the path has drawn them; 1 if it has
    /// drawn so many that those that are left are not like the others.
    std::vector<std::int64_t> telling_gaps;
};

/// What the first threads of processes do themselves in gaps that are not on the path; nothing, if neither a function
/// is on it, nor that one is blocked (Tally::stretch_code). `is_on_path`: as Stretches::is_on_path. Collective over
/// `replay.comm`.
CodeOfPeers code_of_peers(const Replay& replay, const std::vector<std::vector<bool>>& is_on_path, StretchFinder& finder,
                          const SampleWeights& weights, const Tally& tally);

}  // namespace critpath::replayer

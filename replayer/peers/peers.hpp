// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the phase "peers": why the costliest computation on the path takes as long as it does on the rank where the path
// is, and not on the others. (docs/ALGORITHM, "Explanations")
#pragma once

#include "analysis/model/stretch.hpp"
#include "replayer/peers/gaps.hpp"

#include <vector>

namespace critpath::replayer
{

/// The stretches with the most time on the path, that first.
struct Stretches {
    struct At {
        GapPlace place;
        std::vector<PathStep> before, after;  // the ways to its calls
        model::Stretch sums;                  // without the call paths, which have no numbers yet
    };
    std::vector<At> stretches;  // on all processes
    SameCalls same;             // which calls the places are of
    /// By index into Replay::processes and by gap: it is on the path. Empty if there are no stretches.
    std::vector<std::vector<bool>> is_on_path;
    std::vector<model::StretchShare> shares;  // on process 0; sorted by (stretch, process)
    std::vector<model::StretchRank> ranks;    // likewise
};

/// Collective over `replay.comm`.
Stretches compare_with_peers(const Replay& replay, const Predecessors& predecessors, const Path& path);

}  // namespace critpath::replayer

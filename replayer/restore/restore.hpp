// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the phase "restore": the critical path as pieces, from the predecessors of all leaves. The jumps are gathered
// and walked on one process (tier A), or as another engine walks them; the pieces go to the processes that hold their
// locations. What the path consists of in detail is never in memory as a whole: cut.hpp makes the segments when they
// are wanted.
#pragma once

#include "analysis/model/path.hpp"
#include "replayer/analysis.hpp"
#include "replayer/resolve/resolve.hpp"
#include "replayer/restore/walk.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// The path; the numbers are of the whole.
struct Path {
    model::Ns begin{};  // first moment of the run on the trace's clock
    model::Ns makespan{};
    std::uint64_t hops = 0;
    std::uint64_t clock_violations = 0;
    std::vector<Piece> pieces;  // of owned locations, time ascending
};

/// Walks the path: the pieces on owned locations, time descending, and into `path` its begin, its makespan and the
/// counts of the walk. Collective over `replay.comm`.
using WalkPath = std::vector<Piece> (*)(const Replay& replay, const Predecessors& predecessors, Path& path);

/// What is to be known of all locations, known of the owned ones; and the jumps of these, by location and call.
std::vector<LocationSpan> own_spans(const Replay& replay);
std::vector<Jump> own_jumps(const Predecessors& predecessors);

/// Walks on one process; the pieces go to the processes that hold their locations.
std::vector<Piece> gather_and_walk(const Replay& replay, const Predecessors& predecessors, Path& path);

/// Collective over `replay.comm`.
Path restore(const Replay& replay, const Predecessors& predecessors, WalkPath walk_path = gather_and_walk);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the phase "restore": the critical path as pieces, from the predecessors of all leaves. There are several ways to
// walk it over the processes that hold the jumps; the pieces are where their locations are. What the path consists of
// in detail is never in memory as a whole: cut.hpp makes the segments when they are wanted.
#pragma once

#include "analysis/model/path.hpp"
#include "replayer/analysis.hpp"
#include "replayer/growing_list.hpp"
#include "replayer/resolve/resolve.hpp"
#include "replayer/restore/walk.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// As many as there are waits on the path, at most; to have them twice, or in one piece, costs more than to walk it.
using Pieces = GrowingList<Piece>;

/// The path; the numbers are of the whole.
struct Path {
    model::Ns begin{};  // first moment of the run on the trace's clock
    model::Ns makespan{};
    std::uint64_t hops = 0;
    std::uint64_t clock_violations = 0;
    Pieces pieces;  // of owned locations, time ascending
};

/// Walks the path: the pieces on owned locations, time descending, and into `path` its begin, its makespan and the
/// counts of the walk. Collective over `replay.comm`.
using WalkPath = Pieces (*)(const Replay& replay, const Predecessors& predecessors, Path& path);

/// What is to be known of all locations, known of the owned ones; and the jumps of these.
std::vector<LocationSpan> own_spans(const Replay& replay);
JumpsByLocation own_jumps(const Replay& replay, const Predecessors& predecessors);

/// Of the whole trace. Collective over `replay.comm`.
Ends agree_on_ends(const Replay& replay, const Ends& own);

/// What walks of the processes have counted, added up into `path`. Collective over `replay.comm`.
void add_up(const Replay& replay, const Ends& ends, std::uint64_t hops, std::uint64_t clock_violations, Path& path);

// All ways to walk come to the same path. The first two can do any trace; the others fall back on the first where
// clocks contradict themselves (tiers.hpp).

/// One process gets all jumps (tier A). Memory there follows the jumps of all processes.
Pieces gather_and_walk(const Replay& replay, const Predecessors& predecessors, Path& path);
/// A token goes to the process that holds the next location. (Seed, section 4, step 3)
Pieces pass_token(const Replay& replay, const Predecessors& predecessors, Path& path);
/// Parts of the path between moments that all paths share, all at a time (tier B).
Pieces walk_segments(const Replay& replay, const Predecessors& predecessors, Path& path);
/// Where jumps lead is doubled until all ends are known, then the path is marked (tier C).
Pieces lift(const Replay& replay, const Predecessors& predecessors, Path& path);
/// One of them, by the size of the trace and what it is like.
Pieces walk_as_fits(const Replay& replay, const Predecessors& predecessors, Path& path);

/// Collective over `replay.comm`.
Path restore(const Replay& replay, const Predecessors& predecessors, WalkPath walk_path = walk_as_fits);

}  // namespace critpath::replayer

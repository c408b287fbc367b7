// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the phase "restore": the critical path as segments, from the predecessors of all leaves. The jumps are gathered
// and walked on one process (tier A); the segments are cut where the events are, and end up in path order, an equal
// share on each process.
#pragma once

#include "analysis/model/path.hpp"
#include "replayer/analysis.hpp"
#include "replayer/resolve/resolve.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// The path; the numbers are of the whole, the segments are this process's. Segment::function is a RegionId.
struct Path {
    model::Ns begin{};  // first moment of the run on the trace's clock
    model::Ns makespan{};
    std::uint64_t segments = 0;
    std::uint64_t hops = 0;
    std::uint64_t clock_violations = 0;

    std::vector<model::Segment> own;    // on owned locations, in any order
    std::vector<model::Segment> block;  // segments first .. first + size - 1 of the path
    std::uint64_t first = 0;
};

/// Collective over `replay.comm`. Throws Failure on all processes if the segments do not form one chain over the whole
/// makespan: then the result would be wrong.
Path restore(const Replay& replay, const Predecessors& predecessors);

/// The check by itself: `path.block` of all processes is one chain from 0 to the makespan. Collective.
void verify(const Replay& replay, const Path& path);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the phase "attribute": whose time the path is. Samples, regions and MPI functions are laid over the segments,
// and the sums of all processes become the Profile.
#pragma once

#include "analysis/model/attribution.hpp"
#include "analysis/model/counts.hpp"
#include "analysis/model/profile.hpp"
#include "analysis/model/totals.hpp"
#include "replayer/attribute/places.hpp"
#include "replayer/collect/collect.hpp"
#include "replayer/pair/pair.hpp"
#include "replayer/peers/peers.hpp"
#include "replayer/restore/blocks.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// Everything that the phases before have counted.
struct Findings {
    const Pairs& pairs;
    const Collectives& collectives;
    const Predecessors& predecessors;
    const Stretches& stretches;
};

struct Attributed {
    model::Profile profile;                 // whole on process 0 of `replay.comm`; on the others it has only rows
    Numbers numbers;                        // of the segments
    std::vector<std::uint32_t> call_paths;  // CallPathId of each call, by ContextId: the names of Segment::call
    std::vector<model::Attribution> attributions;  // of the processes that this one has; in the order of the file
    std::vector<model::CountTable> counts;         // likewise, one behind the other
    std::vector<model::TotalPart> totals;          // likewise
    std::vector<model::ComputedParts> computed;    // likewise
};

/// Throws Failure on all processes if the path is no chain over the whole makespan. Collective.
Attributed attribute(const Replay& replay, const Findings& findings, const Path& path);

}  // namespace critpath::replayer

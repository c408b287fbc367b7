// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the phase "attribute": whose time the path is. Samples, regions and MPI functions are laid over the segments,
// and the sums of all processes become the Profile.
#pragma once

#include "analysis/model/profile.hpp"
#include "replayer/attribute/rows.hpp"
#include "replayer/collect/collect.hpp"
#include "replayer/pair/pair.hpp"
#include "replayer/restore/restore.hpp"

namespace critpath::replayer
{

/// Everything that the phases before have counted.
struct Findings {
    const Pairs& pairs;
    const Collectives& collectives;
    const Predecessors& predecessors;
};

/// The profile, whole on process 0 of `replay.comm`; on the others it has only rows. Replaces Segment::function in
/// `path` (both `own` and `block`), a RegionId so far, by RowId. Collective.
model::Profile attribute(const Replay& replay, const Findings& findings, Path& path);

}  // namespace critpath::replayer

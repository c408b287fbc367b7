// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the visits of the path to whoever was preempted inside of MPI while the path waited there: no jump leads into
// the middle of a call, as one call waits for the enter of another. (docs/ALGORITHM, "Samples")
#pragma once

#include "replayer/restore/restore.hpp"

namespace critpath::replayer
{

/// Whether anybody was preempted at all, as far as that was recorded. Collective over `replay.comm`.
bool knows_preemption(const Replay& replay);

/// Cuts the waits out of the pieces that others made long, and adds the pieces of these. Collective over `replay.comm`.
void visit_preempted(const Replay& replay, const Predecessors& predecessors, Path& path);

}  // namespace critpath::replayer

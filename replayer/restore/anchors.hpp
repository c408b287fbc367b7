// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the moments at which every path has to be, wherever it comes from: the enter of the last arriver at a collective
// of all processes, if it released all others and no jump of the trace passes it by. (docs/ALGORITHM, "In parallel")
#pragma once

#include "replayer/restore/restore.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

struct Anchors {
    std::vector<Stop> own;         // on owned locations, by location and call
    std::uint64_t count = 0;       // of the whole trace
    std::uint64_t most_jumps = 0;  // on all locations, between one of them and the next
};

/// None where threads other than the main ones have called MPI: these could be on the path while all main threads meet.
/// `jumps`: of owned locations; none leads forward in time. Collective over `replay.comm`.
Anchors find_anchors(const Replay& replay, const Predecessors& predecessors, const JumpsByLocation& jumps);

}  // namespace critpath::replayer

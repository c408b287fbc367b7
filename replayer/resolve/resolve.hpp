// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the phase "resolve": every leave of a call gets its critical predecessor, which is the call itself or, for a
// call that waited, the enter of another. Applies replayer/rules to what pair and collect found out.
#pragma once

#include "analysis/model/path.hpp"
#include "replayer/analysis.hpp"
#include "replayer/collect/collect.hpp"
#include "replayer/onesided/onesided.hpp"
#include "replayer/pair/pair.hpp"
#include "replayer/rules/calibration.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// From the leave of a call, the path jumps to the enter of another (of any location, or an earlier one of its own).
/// Plain data that travels between processes.
struct Jump {
    model::CallRef call;
    model::Ns leave;
    model::CallRef to;
    model::Ns to_enter;
    std::uint64_t bytes;
    model::RegionId region;   // of `call`
    model::SegmentKind kind;  // Transfer or Collective
    model::Confidence confidence;
};

/// How the path goes through a call without a jump.
struct Through {
    model::SegmentKind kind : 6 = model::SegmentKind::Mpi;  // Mpi, Delay or Collective
    model::Confidence confidence : 2 = model::Confidence::Full;
};
static_assert(sizeof(Through) == 1, "there is one a call");

/// Predecessors of one location.
struct LocationPredecessors {
    std::vector<Jump> jumps;       // ascending by call
    std::vector<Through> through;  // by call; means nothing for calls with a jump
};

struct Predecessors {
    std::vector<std::vector<LocationPredecessors>> processes;  // as Replay::processes, by location
    // Of the whole trace: jumps of collectives that lead forward in time, and collectives that somebody left before all
    // had come, by more than the clocks are off.
    std::uint64_t clock_violations = 0;
};

/// Collective over `replay.comm`.
Predecessors resolve(const Replay& replay, const Pairs& pairs, const std::vector<ProcessWindows>& windows,
                     const Collectives& collectives, const rules::Calibration& calibration);

}  // namespace critpath::replayer

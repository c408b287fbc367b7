// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the critical predecessor of each leave of a call, as data, and how it is put together.
#pragma once

#include "analysis/model/path.hpp"
#include "replayer/analysis.hpp"
#include "replayer/rules/predecessor.hpp"

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

/// The predecessors of one process, as far as they are known.
class ProcessAnswers
{
public:
    ProcessAnswers(const Replay& replay, std::size_t process);

    /// Enters the answer for the leave of `call`. Route::Ask is no answer.
    void set(model::CallRef call, const rules::Predecessor& predecessor);

    /// Sorts the jumps; nothing can be set afterwards.
    std::vector<LocationPredecessors> finish();

private:
    const model::ProcessTrace& trace_;
    std::vector<LocationPredecessors> locations_;
};

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns who moved on the transfers and the non-blocking collectives that had stood still: whichever side entered MPI
// last before the call ended that waited for it. (docs/ALGORITHM, "Late progress")
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/collect/queries.hpp"
#include "replayer/rules/late_progress.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// A transfer that a call completed.
struct StoodStill {
    std::size_t process;  // of the call: index into Replay::processes
    model::CallRef call;
    model::ProcessId partner;
    model::LocationId peer;  // of it
    bool sends;              // as rules::Predecessor
    std::uint64_t bytes;
    rules::Standstill standstill;
};

/// A call, and what it is said to have waited for if nobody turns out to have moved on one of its transfers.
struct LateCall {
    std::size_t process;
    model::CallRef call;
    bool polls;
    rules::Predecessor otherwise;
};

/// What is to be asked about a non-blocking collective that a call completed. There may be several questions.
struct LateCollective {
    std::size_t call;  // index into LateCalls::calls
    std::uint64_t bytes;
    bool is_long;  // much longer than such operations take
    InstanceQuery query;
};

/// What is not decided before the partners have been asked.
struct LateCalls {
    std::vector<LateCall> calls;
    std::vector<StoodStill> transfers;        // in the order of their calls
    std::vector<LateCollective> collectives;  // likewise

    [[nodiscard]] std::size_t questions() const { return transfers.size() + collectives.size(); }
};

/// The predecessors, in the order of the calls. Collective over `replay.comm`.
std::vector<rules::Predecessor> late_progress(const Replay& replay, const Members& members, const LateCalls& late);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the two halves of "resolve": calls that complete messages, and collective calls. Each adds its answers to
// the predecessors of one process.
#pragma once

#include "replayer/onesided/onesided.hpp"
#include "replayer/pair/call_costs.hpp"
#include "replayer/pair/pair.hpp"
#include "replayer/resolve/answers.hpp"
#include "replayer/resolve/late_progress.hpp"
#include "replayer/resolve/nonblocking_collectives.hpp"

#include <span>
#include <vector>

namespace critpath::replayer
{

/// What the calls of one process may have waited for besides blocking collectives.
struct Awaited {
    ProcessPairs& pairs;  // what is known of receives goes as they are passed
    const ProcessWindows& windows;
    std::span<const CompletedCollective> collectives;
};

/// What completes messages, non-blocking collectives and one-sided communication. Calls that can only be decided by
/// asking the partners go to `late`.
void resolve_completions(const Replay& replay, std::size_t process, const Awaited& awaited,
                         const rules::Calibration& calibration, ProcessAnswers& answers, LateCalls& late);

/// Blocking collectives that are still open. For all owned processes at once, because some answers are asked from other
/// processes. Collective.
void resolve_collectives(const Replay& replay, const Collectives& collectives,
                         const std::vector<ProcessWindows>& windows, const rules::Calibration& calibration,
                         std::vector<ProcessAnswers>& answers);

}  // namespace critpath::replayer

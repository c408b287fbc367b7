// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how far the path can be told with the clocks as they are: how much of it was decided within their error, and
// whether one node comes last more often than the others, as one does whose clock is late. (docs/ALGORITHM,
// "Uncertainty")
#pragma once

#include "analysis/model/profile.hpp"
#include "replayer/collect/collect.hpp"
#include "replayer/restore/restore.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// What the choices of predecessors in a part of the path decide, looking back from the end of the run. Plain data that
/// travels.
struct Change {
    std::uint8_t chooses = 0;  // it has a choice, of which the first
    std::uint8_t decided = 0;  // is within the error of the clocks
    std::uint8_t meets = 0;    // it has a meeting of all processes
    std::uint8_t doubted = 0;  // and a choice within the error of the clocks before the first one
};

/// Of one piece of the path: its choices, and the time that they, or later ones, decide about.
struct Choices {
    Change change;
    std::int64_t decided_ns = 0, doubted_ns = 0;  // by choices of this piece
    std::int64_t open_ns = 0;                     // behind its last choice: the next one elsewhere decides
    std::int64_t undoubted_ns = 0;                // doubted if what comes behind is
    std::uint32_t from = none;                    // location that a jump leads here from

    static constexpr std::uint32_t none = UINT32_MAX;

    /// The next segment, in order of time.
    void add(const model::Segment& segment);
    void add(model::SegmentKind kind, model::Confidence confidence, std::int64_t ns);
};

/// Whether processes may have different clocks, so that choices are worth a look.
bool several_clocks(const model::Definitions& definitions);

/// By clock; empty where all processes share one. The same on all processes. `choices`: by piece of `path`. A piece of
/// path was decided by the next choice of a predecessor behind it in time: that choice put the path there. If it was a
/// wrong one, all that comes before may lie elsewhere, back to the moment when all processes met. Collective over
/// `replay.comm`.
std::vector<model::ClockTotals> clock_shares(const Replay& replay, const Collectives& collectives, const Path& path,
                                             const std::vector<Choices>& choices);

}  // namespace critpath::replayer

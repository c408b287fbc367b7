// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how much of the path doubtful decisions have put where it is: not only the calls that they were made in, but
// what comes before these, on the rank that a wrong one has led to. (docs/ALGORITHM, "Uncertainty")
#pragma once

#include "analysis/model/path.hpp"
#include "replayer/resolve/resolve.hpp"
#include "replayer/restore/restore.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// By piece of `path`: whether the jump that begins where it ends is a doubtful decision. Collective over
/// `replay.comm`.
std::vector<bool> led_by_doubt(const Replay& replay, const Predecessors& predecessors, const Path& path);

/// Adds up the time that doubtful decisions decide about, in pieces of the path: each that of its own segment, and all
/// before it back to the decision before. What is behind the last decision of a piece, the jump where it ends decides.
class LedByDoubt
{
public:
    /// The next segment of a piece, in order of time.
    void add(const model::Segment& segment);
    /// The piece is at its end; `doubtful`: the jump that begins there.
    void end_piece(bool doubtful);

    [[nodiscard]] std::int64_t ns() const { return ns_; }

private:
    std::int64_t ns_ = 0;
    std::int64_t open_ns_ = 0;  // behind the last decision
};

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how much of the path doubtful decisions have put where it is: not only the calls that they were made in, but
// what comes before these, on the rank that a wrong one has led to. (docs/ALGORITHM, "Uncertainty")
#pragma once

#include "analysis/model/path.hpp"
#include "replayer/resolve/resolve.hpp"
#include "replayer/restore/restore.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// A doubtful jump that begins where a piece of the path ends.
struct DoubtfulEnd {
    std::size_t piece;  // index into Path::pieces
    model::Ns length;   // of the jump
    bool is_poll;       // it leads to the end of one
};

/// Those of owned pieces, in their order. Collective over `replay.comm`.
std::vector<DoubtfulEnd> doubtful_ends(const Replay& replay, const Predecessors& predecessors, const Path& path);

/// Adds up the time that doubtful decisions decide about, over all pieces of a path: each that of its own segment, and
/// all before it back to the decision before, if that may be far from critical (model::may_lead).
class LedByDoubt
{
public:
    /// `ends`: of all pieces. Both must outlive this.
    LedByDoubt(const model::Definitions& definitions, const std::vector<DoubtfulEnd>& ends)
        : definitions_(definitions), clock_error_(definitions.largest_uncertainty().count()), end_(ends.begin()),
          last_(ends.end())
    {
    }

    /// The next segment of that piece, in order of time. Pieces come in their order.
    void add(std::size_t piece, const model::Segment& segment);
    /// ns, behind the last segment of all.
    std::int64_t take();

private:
    void end_pieces(std::size_t before);
    void decide(bool may_lead);

    const model::Definitions& definitions_;
    std::int64_t ns_ = 0;
    std::int64_t open_ns_ = 0;  // behind the last decision
    std::int64_t clock_error_;  // by so much may lengths be wrong that are in doubt for it
    std::size_t piece_ = 0;
    std::vector<DoubtfulEnd>::const_iterator end_, last_;
};

}  // namespace critpath::replayer

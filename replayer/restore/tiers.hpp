// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the choice between the ways to walk the path, and what a walk needs to be cut into parts: that it cannot depend
// on what lies behind it. (docs/ALGORITHM, "In parallel")
#pragma once

#include "replayer/restore/anchors.hpp"
#include "replayer/restore/restore.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// What is known of a trace when the way to walk it is chosen.
struct Size {
    std::uint64_t jumps = 0;  // of all locations
    std::uint64_t locations = 0;
    bool can_be_cut = false;  // all jumps lead back, and the run has an end
};

enum class Tier : std::uint8_t { Gather, Token, Segments, Lifting };

/// Whether it is worth looking for anchors, or what to do without.
Tier choose(const Size& size);
/// With the anchors that were found.
Tier choose(const Size& size, const Anchors& anchors);

/// Whether each jump leads back in time, and calls follow each other: then a walk depends on where it stands and on
/// nothing before that, and never comes by a jump again. For the whole trace. Collective over `replay.comm`.
bool all_lead_back(const Replay& replay, const JumpsByLocation& jumps);

/// The two ways in parts. All jumps lead back, and `ends.last` is valid. Collective over `replay.comm`.
Pieces walk_between(const Replay& replay, const JumpsByLocation& jumps, const Anchors& anchors, const Ends& ends,
                    Path& path);
Pieces walk_by_lifting(const Replay& replay, const JumpsByLocation& jumps, const Ends& ends, Path& path);

/// Pieces that do not overlap, time descending.
Pieces in_order_of_walk(std::vector<Piece> pieces);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the order of the segments of the whole path: the number of each, and the way of all of them, in blocks of
// consecutive ones, to the processes that write them. No process ever holds more than a block.
#pragma once

#include "replayer/restore/cut.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace critpath::replayer
{

/// What a piece was cut into.
struct PieceSum {
    std::uint64_t segments = 0;
    std::int64_t ns = 0;
};

/// How many segments the path has, and where the pieces of this process begin in it.
struct Numbers {
    std::uint64_t segments = 0;
    std::vector<std::uint64_t> first;  // by piece
};

/// `sums`: by piece of `path`. Throws Failure on all processes if the segments of all processes are not one chain over
/// the whole makespan: then the result would be wrong. Collective over `replay.comm`.
Numbers number_segments(const Replay& replay, const Path& path, const std::vector<PieceSum>& sums);

/// Calls `visit(first, segments)` on each process, as often as on any other, for segments `first`, `first` + 1, ... of
/// the path; all calls together have each segment once. `names`: what Segment::call is replaced by, by ContextId.
/// Collective over `replay.comm`, and so may `visit` be.
using VisitBlock = std::function<void(std::uint64_t first, std::span<const model::Segment> segments)>;
void for_each_block(const Replay& replay, const Predecessors& predecessors, const Path& path, const Numbers& numbers,
                    std::span<const std::uint32_t> names, const VisitBlock& visit);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the order of the segments of the whole path: the number of each, and the way of all of them, in blocks of
// consecutive ones, to the processes that write them. No process ever holds more than a block.
#pragma once

#include "replayer/restore/cut.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace critpath::replayer
{

/// What the pieces of this process were cut into.
struct CutPieces {
    std::vector<std::uint64_t> segments;  // by piece
    bool are_whole = true;                // the segments of each are as long as it is

    explicit CutPieces(const Path& path) : segments(path.pieces.size(), 0) {}
};

/// Counts segments, piece by piece in their order.
class CutCounter
{
public:
    /// The path must outlive this.
    explicit CutCounter(const Path& path) : path_(path), cut_(path) {}

    void add(const PathCutter::Part& part);
    [[nodiscard]] CutPieces take();

private:
    void pass(std::size_t piece);

    const Path& path_;
    CutPieces cut_;
    std::size_t piece_ = 0;
    std::int64_t ns_ = 0;  // of this piece
};

/// How many segments the path has, and where the pieces of this process begin in it.
struct Numbers {
    std::uint64_t segments = 0;
    std::vector<std::uint64_t> first;  // by piece
};

/// Throws Failure on all processes if the segments of all processes are not one chain over
/// the whole makespan: then the result would be wrong. Collective over `replay.comm`.
Numbers number_segments(const Replay& replay, const Path& path, CutPieces cut);

/// Calls `visit(first, segments)` on each process, as often as on any other, for segments `first`, `first` + 1, ... of
/// the path; all calls together have each segment once. `names`: what Segment::call is replaced by, by ContextId.
/// Collective over `replay.comm`, and so may `visit` be.
using VisitBlock = std::function<void(std::uint64_t first, std::span<const model::Segment> segments)>;
void for_each_block(const Replay& replay, const Predecessors& predecessors, const Path& path, const Numbers& numbers,
                    std::span<const std::uint32_t> names, const VisitBlock& visit);

}  // namespace critpath::replayer

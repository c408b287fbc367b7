// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a piece of the path becomes segments, on the process that holds its location: computation between calls,
// the calls on the path, and the collector's own time carved out of both.
#pragma once

#include "analysis/model/path.hpp"
#include "replayer/resolve/resolve.hpp"
#include "replayer/restore/walk.hpp"

#include <vector>

namespace critpath::replayer
{

/// Segments of one piece, time ascending, without empty ones. Times count from `origin`. Segment::function is a
/// RegionId here: rows are not known before the whole path is.
std::vector<model::Segment> cut(const Piece& piece, const model::LocationTrace& trace,
                                const LocationPredecessors& predecessors, model::Ns origin);

}  // namespace critpath::replayer

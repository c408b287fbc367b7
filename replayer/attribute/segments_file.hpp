// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how segments.bin is written: by all processes together, each its block of the path (formats/FORMAT.md).
#pragma once

#include "formats/result/segments.hpp"
#include "replayer/restore/blocks.hpp"

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <functional>

namespace critpath::replayer
{

/// Calls the VisitBlock that it gets on each process, as often as on any other, with blocks of the path.
using EachBlock = std::function<void(const VisitBlock&)>;

/// Writes TRACE/critpath/segments.bin, under another name first. `header` says how many records there are; the
/// functions in them are rows. Returns the checksum of all segments of all processes. Collective over `comm`. Throws
/// Failure on all processes if a process cannot write.
std::int64_t write_segments(MPI_Comm comm, const std::filesystem::path& trace, const result::SegmentsHeader& header,
                            const EachBlock& each_block);

}  // namespace critpath::replayer

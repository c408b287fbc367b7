// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how segments.bin, attribution.bin, counts.bin, totals.bin and computed.bin are written: by all processes
// together, each its part of the records (formats/FORMAT.md).
#pragma once

#include "formats/result/segments.hpp"
#include "replayer/restore/blocks.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace critpath::replayer
{

/// Calls the VisitBlock that it gets on each process, as often as on any other, with blocks of the path.
using EachBlock = std::function<void(const VisitBlock&)>;

/// Writes what is to become TRACE/critpath/segments.bin, under another name. `header` says how many records there are;
/// the calls in them are call paths. Returns the checksum of all segments of all processes. Collective over `comm`.
/// Throws Failure on all processes if a process cannot write.
std::int64_t write_segments(MPI_Comm comm, const std::filesystem::path& trace, const result::RecordHeader& header,
                            const EachBlock& each_block);

/// Likewise TRACE/critpath/attribution.bin; `own`: the attributions of this process, which come behind those of the
/// processes before it. `begin_ns` and `makespan_ns` as in the header of the segments.
std::int64_t write_attributions(MPI_Comm comm, const std::filesystem::path& trace, std::int64_t begin_ns,
                                std::int64_t makespan_ns, std::span<const model::Attribution> own);

/// Likewise TRACE/critpath/counts.bin, of so many events; the tables come one behind the other.
std::int64_t write_counts(MPI_Comm comm, const std::filesystem::path& trace, std::int64_t begin_ns,
                          std::int64_t makespan_ns, std::size_t events, std::span<const model::CountTable> own);

/// Likewise TRACE/critpath/totals.bin.
std::int64_t write_totals(MPI_Comm comm, const std::filesystem::path& trace, std::int64_t begin_ns,
                          std::int64_t makespan_ns, std::span<const model::TotalPart> own);

/// Likewise TRACE/critpath/computed.bin.
std::int64_t write_computed(MPI_Comm comm, const std::filesystem::path& trace, std::int64_t begin_ns,
                            std::int64_t makespan_ns, std::span<const model::ComputedParts> own);

/// Gives these files their names. On one process, when all of them and all else of the result is written, so that a
/// full disk leaves the result that was there. Throws Failure.
void publish_records(const std::filesystem::path& trace);
/// Instead.
void discard_records(const std::filesystem::path& trace);

}  // namespace critpath::replayer

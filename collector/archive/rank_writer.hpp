// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns one rank's part of an archive: its event files, and what its definitions will say about it.
#pragma once

#include "collector/archive/process.hpp"
#include "collector/archive/unify.hpp"
#include "formats/otf2/archive.hpp"

#include <cstdint>
#include <vector>

namespace critpath::archive
{

/// What was written.
struct WrittenRank {
    ProcessSummary summary;
    std::vector<otf2::ClockPoint> clocks;
    std::uint64_t calls = 0;
    std::uint64_t samples = 0;
    std::uint64_t events = 0;
    std::uint64_t lost_records = 0;
    std::uint64_t damaged_records = 0;  // of them
    std::uint64_t lost_samples = 0, cut_samples = 0;
    std::uint64_t sampled_ns = 0, respite_ns = 0;  // of all threads, as in ThreadData
};

/// Writes the events of all threads. Several ranks may be written at the same time, by different threads. Throws
/// Failure.
WrittenRank write_rank(otf2::Archive& archive, std::uint32_t rank, const ProcessData& process, const EventIds& ids);

/// A rank of which nothing was recorded, or nothing can be read: one location without events.
WrittenRank write_missing_rank(otf2::Archive& archive, std::uint32_t rank);

}  // namespace critpath::archive

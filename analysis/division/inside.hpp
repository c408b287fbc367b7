// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the time of calls of MPI, and of transfers, on the path is divided into: what samples saw the threads on
// both sides do meanwhile. (docs/ALGORITHM, "Inside MPI")
#pragma once

#include "analysis/division/windows.hpp"
#include "analysis/model/ids.hpp"
#include "analysis/model/profile.hpp"

#include <compare>
#include <cstdint>
#include <vector>

namespace critpath::division
{

/// Whose work it was.
enum class Side : std::uint8_t {
    Call,  // of who was in a call on the path
    From,  // of a transfer: of the process that sends,
    To     // and of the one that gets something
};

/// All segments of one kind in one window that share a call path and all processes.
struct MpiPart {
    bool is_transfer = false;
    model::CallPathId call;     // Segment::call
    model::ProcessId from, to;  // of the message; equal in calls
    model::ProcessId waits;     // Segment::location
    auto operator<=>(const MpiPart&) const = default;
};

/// What samples found in them.
struct InsideTime {
    MpiPart of;
    Side side = Side::Call;
    model::RowId function;  // none(): it looked whether something had come
    std::int64_t ns = 0;    // what the samples stand for, which may be more than the time that they are found in
    std::uint64_t samples = 0;
};

/// Sorted by all but the last two. `records` are those of `profile`, the whole run's, and fit to it.
std::vector<InsideTime> inside_mpi(const model::Profile& profile, const PathRecords& records, const Window& window);

}  // namespace critpath::division

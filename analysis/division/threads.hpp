// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which threads the path's time is of: the one that a segment is on, or, of computation, those that it waits for
// meanwhile. (docs/ALGORITHM, "Samples")
#pragma once

#include "analysis/division/windows.hpp"

#include <cstdint>
#include <vector>

namespace critpath::division
{

/// Of the path, ns.
struct ThreadTime {
    std::int64_t path = 0;
    std::int64_t computed = 0;  // of that, computation
};

/// What the samples of a thread on the path say of its computation: a part of that is of another thread.
struct GivenTime {
    std::uint32_t from, to;  // LocationId
    std::int64_t ns;
    std::int64_t of_ns;     // what these samples divide
    std::uint64_t samples;  // independent ones of all that
};

struct ThreadTimes {
    std::vector<ThreadTime> threads;  // by LocationId; they sum to the path's time in the window
    std::vector<GivenTime> given;     // which is contained in that; all else is exact
};

/// `records` are those of `profile`, the whole run's.
ThreadTimes time_of_threads(const model::Profile& profile, const PathRecords& records, const Window& window);

}  // namespace critpath::division

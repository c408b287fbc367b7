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

/// By LocationId; they sum to the path's time in the window. `records` are those of `profile`, the whole run's.
std::vector<ThreadTime> time_of_threads(const model::Profile& profile, const PathRecords& records,
                                        const Window& window);

}  // namespace critpath::division

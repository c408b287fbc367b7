// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns where a thread was blocked when the collector did not look: as at other times between the same two MPI functions
// at which it did. (docs/ALGORITHM, "Samples")
#pragma once

#include "analysis/model/trace.hpp"

namespace critpath::replayer::load
{

/// Fills in OffProcessor::found_in and waits_for where an interval was not looked at, but one like it, about as long.
/// Of a thread that is not `alone` in its process, waits_for stays unknown where others like it were for another thread
/// as well as for something else, or too few tell that it was for none. Where a thread that is alone was not looked at
/// between the same two functions, what all of about that length were for elsewhere is what this one was for. Linear,
/// but for a search in those that were looked at.
void place_blocked(model::LocationTrace& location, bool is_alone);

}  // namespace critpath::replayer::load

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
/// Linear, but for a search in those that were looked at.
void place_blocked(model::LocationTrace& location);

}  // namespace critpath::replayer::load

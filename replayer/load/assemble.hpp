// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the step from the events of a process's locations to its ProcessTrace: requests that one thread posted and
// another completed, messages of matched probes, and the posting order over all threads.
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/load/events.hpp"

#include <vector>

namespace critpath::replayer::load
{

/// `locations`: as Process::locations.
model::ProcessTrace assemble(model::ProcessId process, std::vector<LocationEvents> locations);

}  // namespace critpath::replayer::load

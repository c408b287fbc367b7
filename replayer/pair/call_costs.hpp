// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the first calibration of a replay: what calls cost that wait for nobody, from the durations of all calls.
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/analysis.hpp"
#include "replayer/rules/calibration.hpp"
#include "replayer/rules/predecessor.hpp"

#include <mpi.h>

#include <vector>

namespace critpath::replayer
{

/// Costs of calls by function and size, over all processes. Collective over `replay.comm`.
rules::CallCosts calibrate_calls(const Replay& replay);

/// Now those of all processes together. Collective; `durations` is as long on all.
void merge(MPI_Comm comm, std::vector<rules::Durations>& durations);

/// The call with its excess over its least cost.
rules::Waiting waiting(const Replay& replay, const model::ProcessTrace& trace, const rules::CallCosts& costs,
                       model::CallRef call);

}  // namespace critpath::replayer

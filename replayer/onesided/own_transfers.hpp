// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what each transfer between windows, and the call that completed it, tell of the time that such transfers take.
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/pair/waited_messages.hpp"
#include "replayer/rules/calibration.hpp"

namespace critpath::replayer
{

/// Whether the call may have waited for something else than a transfer between windows.
bool may_end_by_others(functions::FunctionId function);

/// By link, of the owned processes. Of transfers that somebody waited for, those count as moved whose targets were
/// outside of MPI meanwhile: they may have stood still. Collective over `replay.comm`.
ExamplesByLink own_transfers(const Replay& replay, const rules::CallCosts& costs);

}  // namespace critpath::replayer

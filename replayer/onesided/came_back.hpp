// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns whether a process came back to MPI while a call of another one lasted that may have waited for that.
// (docs/ALGORITHM, "One-sided communication")
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/rules/predecessor.hpp"

#include <array>

namespace critpath::replayer
{

/// The call by which the first thread of `process` came back to MPI while a call in [enter, leave) lasted, if it had
/// been outside for most of the time that `after`, which the other one took from then on, does not explain. Not valid:
/// it did not. `process` must be owned.
rules::Enter came_back(const Replay& replay, model::ProcessId process, model::Ns enter, model::Ns leave,
                       model::Ns after);

/// How far off a clock must be, by no more than `error`, for other answers to `came_back` if the other one went on at
/// `due`: as far as it may be, either way, and so that the enters of `process` next to `due` are at it.
std::array<model::Ns, 4> telling_errors(const Replay& replay, model::ProcessId process, model::Ns due, model::Ns error);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which collective calls can wait for nobody, since their communicators have one member each.
#pragma once

#include "replayer/analysis.hpp"

#include <vector>

namespace critpath::replayer
{

/// By ContextId: blocking collectives that are called so are on communicators of one member, on all processes, as
/// libraries solve on MPI_COMM_SELF. Empty: none is. Collective over `replay.comm`.
std::vector<bool> calls_alone(const Replay& replay);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the question whether the times of different processes may be compared.
#pragma once

#include "replayer/analysis.hpp"

#include <string>

namespace critpath::replayer::clocks
{

/// Processes of one clock domain share the clock of their kernel, so that times compare exactly. Between domains there
/// is no synchronisation yet (docs/ALGORITHM, "Uncertainty"): the times are taken as they are, and the returned words
/// warn of it; "" if there is nothing to warn of. `known`: the trace says what the domains are; otherwise processes on
/// a node share one, and the clocks of different nodes are taken for synchronised by the tool that wrote the trace.
std::string check(const model::Definitions& definitions, bool known);

}  // namespace critpath::replayer::clocks

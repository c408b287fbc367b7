// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns who communicates with whom by the definitions: communicators with their topologies, windows and groups.
#pragma once

#include "replayer/load/process_definitions.hpp"

#include <string>

namespace critpath::replayer::load
{

void define_communicators(const Collected& in, const std::string& file, const DefinedProcesses& processes,
                          LoadedDefinitions& out);

}  // namespace critpath::replayer::load

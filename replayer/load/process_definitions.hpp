// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns who there is by the definitions: processes in the order of their ranks, their threads, where they ran and what
// the recorder says of them.
#pragma once

#include "replayer/load/collected.hpp"
#include "replayer/load/definitions.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace critpath::replayer::load
{

/// What other definitions call the processes and threads.
struct DefinedProcesses {
    std::vector<OTF2_LocationRef> rank_location;  // by rank: where it communicates
    std::unordered_map<OTF2_LocationRef, model::LocationId> location_by_reference;
};

DefinedProcesses define_processes(const Collected& in, const std::string& file, LoadedDefinitions& out);

}  // namespace critpath::replayer::load

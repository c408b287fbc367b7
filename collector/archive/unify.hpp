// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the agreement of all ranks on definitions: tables are merged up a binary tree, the root numbers them, and
// each rank gets back the numbers of what it sent. Nothing but the root sees everything.
#pragma once

#include "collector/archive/communication.hpp"
#include "collector/archive/tables.hpp"

namespace critpath::archive
{

/// Collective. Returns the ids of the entries of `own`; on rank 0 also fills the tables of `definitions`.
Numbers unify(const Communication& communication, const Tables& own, otf2::TraceDefinitions& definitions);

/// What rank 0 must know about a process to define its location group and locations.
struct ProcessSummary {
    otf2::ProcessDefinition process;
    std::vector<otf2::LocationDefinition> locations;
    std::uint64_t begin = 0;  // of all its events, ns
    std::uint64_t end = 0;
    std::uint64_t realtime = 0;  // at `begin`
};

/// Collective. On rank 0 fills processes, locations and times of `definitions`.
void gather(const Communication& communication, const ProcessSummary& own, otf2::TraceDefinitions& definitions);

}  // namespace critpath::archive

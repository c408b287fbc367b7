// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the agreement of all ranks on definitions: tables are merged up a binary tree, the root numbers them, and
// each rank gets back the numbers of what it sent. Nothing but the root sees everything. A process of the communication
// may stand for several ranks, in the order of processes.
#pragma once

#include "collector/archive/agreement.hpp"
#include "collector/archive/communication.hpp"
#include "collector/archive/own_ranks.hpp"
#include "collector/archive/tables.hpp"

namespace critpath::archive
{

/// Collective. Returns the ids of the entries of each rank of this process; on process 0 also fills the tables of
/// `definitions`, and `disagreements`.
std::vector<Numbers> unify(const Communication& communication, OwnRanks& own, otf2::TraceDefinitions& definitions,
                           std::vector<Disagreement>& disagreements);

/// How the recording of a rank ended, worst last.
enum class RankEnd : std::uint8_t {
    Finalized,
    Exited,   // without MPI_Finalize
    Died,     // without closing its files
    Full,     // records are lost: no room, or damage
    Missing,  // there is nothing of it
};

/// What rank 0 must know about a process to define its location group and locations.
struct ProcessSummary {
    otf2::ProcessDefinition process;
    RankEnd ended = RankEnd::Finalized;
    std::string call_graph;  // of its samples; empty: there are none
    std::string precise_ip;  // of its samples of hardware events; empty: there are none
    std::string left_out;    // functions::group_names of calls that were not to be recorded, with commas
    std::vector<otf2::LocationDefinition> locations;
    std::uint64_t begin = 0;  // of all its events, ns
    std::uint64_t end = 0;
    std::uint64_t realtime = 0;  // at `begin`
};

/// Collective. On process 0 fills processes, locations, times, what is incomplete and what is inconsistent of
/// `definitions`.
void gather(const Communication& communication, std::span<const ProcessSummary> own,
            const std::vector<Disagreement>& disagreements, otf2::TraceDefinitions& definitions);

}  // namespace critpath::archive

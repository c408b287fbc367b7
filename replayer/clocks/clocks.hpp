// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the question how far the times of different processes may be compared. (docs/ALGORITHM, "Clocks")
#pragma once

#include "replayer/analysis.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace critpath::replayer::clocks
{

/// Processes of one clock domain share the clock of their kernel, so that their times compare exactly. Between domains
/// the times were corrected when they were loaded, as far as the trace says how.
struct Findings {
    std::size_t domains = 1;
    std::size_t unknown = 0;     // domains of which the trace does not say how their clock goes
    model::Ns uncertainty{0};    // of the distance between two times, the largest over all pairs of processes
    std::size_t distrusted = 0;  // domains whose measurements messages or collectives contradict
    model::Ns correction{0};     // by which times were moved on the evidence of messages and collectives, the largest
    std::vector<std::int64_t> measured;  // by domain: the largest error in ns of what the trace says; -1: it does not
    bool domains_known = true;           // otherwise the processes of a node are taken to share a clock
};

/// Fills definitions.clock_uncertainty, which stays empty where all share one clock. `domains_known`: the trace says
/// which processes share a clock. Collective over `replay.comm`.
Findings compare(Replay& replay, bool domains_known);

/// What is to be warned of; "" if there is nothing.
std::string warning(const Findings& findings);

std::size_t count_domains(const model::Definitions& definitions);

}  // namespace critpath::replayer::clocks

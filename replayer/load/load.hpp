// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the first phase of a replay: an OTF2 trace becomes the model in memory, the definitions on every process, the
// events on the process that owns them.
#pragma once

#include "replayer/analysis.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace critpath::replayer::load
{

/// How a load went on this process.
struct Summary {
    std::uint64_t events = 0;           // records read
    double seconds = 0;                 // for reading them
    bool clock_domains_known = false;   // the trace says which processes share a clock
    bool other_run = false;             // events lie outside of the time of the run, as the definitions have it
    std::vector<std::string> no_ranks;  // processes beside those of MPI, which are left out
};

/// By ProcessId, the process of a replay on `size` processes that owns it: contiguous blocks that differ by at most
/// one. If there are more processes than traced ones, the last own nothing.
std::vector<int> distribute(std::size_t processes, int size);

/// Reads the trace of `anchor`: fills definitions, owner, and the processes that this one owns. Talks to nobody.
/// Throws Failure(BadTrace) if the trace is damaged.
Summary load(const std::filesystem::path& anchor, Replay& replay);

/// Refuses what no clocks show, before they are compared: fifty times a difference of times is within 64 bits
/// then. Collective over `replay.comm`. Throws Failure(BadTrace), on all processes, if times of two are years apart.
void refuse_times_far_apart(const Replay& replay);

/// What can be said when all processes have loaded theirs: leaves out what is behind the common point
/// (common_point.hpp), and sets Replay::is_single_threaded. Collective over `replay.comm`.
void complete(Replay& replay);

}  // namespace critpath::replayer::load

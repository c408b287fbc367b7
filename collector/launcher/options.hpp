// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the command line of cpcollect: its options, their environment variables and the help text.
#pragma once

#include <string>
#include <vector>

namespace critpath::launcher
{

struct Options {
    std::string output;  // empty: not given
    bool force = false;
    unsigned frequency = 0;  // samples a second and thread; 0: none
    unsigned long buffer_kb = 128;
    unsigned clock_period = 60;        // s between two comparisons of clocks; 0: only at the ends
    std::string sampler = "auto";      // perf or timer: where samples come from
    std::string call_graph = "dwarf";  // dwarf,BYTES, fp or none: where the callers of a sample come from
    std::string callpath = "full";     // full, site or none
    std::string timer = "tsc";         // or kernel: what time stamps are read from
    std::string events;                // that samples count, with commas between them; empty: the usual ones
    std::string counters;              // PAPI events, with commas between them
    std::string range;                 // from:to, or pcontrol; empty: everything
    std::vector<std::string> groups;   // of functions that are recorded
    bool quiet = false;
    bool config = false;
    std::vector<std::string> application;  // with its arguments
};

/// The groups of functions that --include and --exclude know.
const std::vector<std::string>& all_groups();

/// Samples a second where nobody says how many. The path picks, between two collectives, the slowest of all ranks,
/// which is nearly always one that was just interrupted where there are many (docs/ALGORITHM, "Samples").
unsigned usual_frequency(int ranks);

/// Reads the command line, of one of so many ranks, up to the first word that is not an option: the rest is the
/// application's. Prints and exits for --help and --version; throws Failure(Usage).
Options parse_options(int argc, const char* const* argv, int ranks);

}  // namespace critpath::launcher

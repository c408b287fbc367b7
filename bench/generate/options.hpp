// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what may be asked of the generator.
#pragma once

#include <cstdint>
#include <string>

namespace critpath::bench
{

struct Options {
    std::string pattern = "halo";
    std::string directory;
    int locations = 4;
    double events = 1e6;  // of all locations, about
    int rows = 0;         // of the grid of ranks; 0: as square as it gets
    int ranks_a_node = 64;
    std::int64_t work = 20'000;  // ns, of a rank in a step
    double noise = 0.2;          // a step's work takes up to so much longer; without noise nothing varies
    double imbalance = 0;        // the slow rank's work takes so much longer
    int slow_rank = 0;
    int allreduce_every = 10;  // steps; 0: never
    double samples = 0;        // a second
    std::uint64_t seed = 1;

    [[nodiscard]] int columns() const { return locations / rows; }
};

struct CommandLine {
    Options options;
    bool stop = false;  // print the words and end with the code
    int code = 0;
    std::string words;
};

/// Each process reads the same words, so that all of them agree.
CommandLine parse_command_line(int argc, char** argv);

}  // namespace critpath::bench

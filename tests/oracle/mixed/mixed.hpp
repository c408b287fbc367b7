// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns programs that do both: blocks of messages and collectives, and epochs of one-sided communication, in turn. Ranks
// go from one to the next when they are through, each for itself. On a machine that moves on by itself, what is done in
// one part depends on the parts before it only by when each rank begins: so parts are simulated one behind the other.
#pragma once

#include "tests/oracle/grammar.hpp"
#include "tests/oracle/windows/check.hpp"
#include "tests/oracle/windows/program.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace critpath::oracle::mixed
{

using Block = std::variant<oracle::Block, windows::Block>;

struct Recipe {
    int ranks;
    std::uint32_t seed;  // as windows::Recipe
    std::vector<Block> blocks;
};

/// Blocks of one sort, one behind the other. Windows are made and freed in each part that has them.
struct MessagePart {
    Program program;
    Execution execution;
};
struct WindowPart {
    windows::Program program;
    windows::WindowExecution execution;
};
using Part = std::variant<MessagePart, WindowPart>;

struct MixedExecution {
    std::vector<Part> parts;  // each with its MPI_Finalize, which counts in the last one only
    Execution whole;          // its graph; it has no calls
};

Recipe random_recipe(std::uint32_t seed);
std::string text(const Recipe& recipe);

/// Throws std::logic_error if the program cannot end, or the machine is lazy, or holds sends.
MixedExecution simulate(const Recipe& recipe, const Machine& machine);

Functions functions(const MixedExecution& execution);

/// What happened, a line a call, part by part.
std::string text(const MixedExecution& execution);

/// As oracle::write_archive.
void write_archive(const std::string& directory, const MixedExecution& execution, const Machine& machine);

windows::Judged check(const Recipe& recipe, const Machine& machine, Weights weights,
                      replayer::Rules rules = replayer::Rules::Arrival);

}  // namespace critpath::oracle::mixed

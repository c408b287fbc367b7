// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a program of one-sided communication is to the oracle: for each rank the steps that it takes. Times are
// ticks. All windows have all ranks.
#pragma once

#include "tests/oracle/simulate.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace critpath::oracle::windows
{

enum class Kind : std::uint8_t { Compute, Fence, Post, Start, Transfer, Complete, Wait, Lock, Unlock, Flush, Look };

struct Step {
    static constexpr int all = -1;

    Kind kind = Kind::Compute;
    std::int64_t ticks = 0;  // of Compute
    int window = 0;
    int target = all;  // of Transfer, Lock, Unlock, Flush, Look
    std::uint64_t bytes = 8;
    std::vector<int> peers = {};  // of Post, Start; of Look, whose transfer is looked for
    bool exclusive = false;
    std::size_t number = 0;  // of Look: that transfer's among those of this rank to the target
};

/// Which call of an access epoch an implementation lets wait for the posts.
enum class Deferral : std::uint8_t { Start, Transfer, Complete };

struct Program {
    int ranks = 0;
    int windows = 1;
    Deferral deferral = Deferral::Start;
    std::vector<std::vector<Step>> steps;  // by rank
};

/// A call, and what it did; Execution::graph knows when.
struct WindowCall {
    FunctionId function = FunctionId::none;
    Step step;
};

struct WindowExecution {
    std::vector<std::vector<WindowCall>> calls;  // by rank
    Execution execution;                         // its graph; it has no calls of other kinds
};

/// Windows are made first, and freed last. Throws std::logic_error if the program cannot end.
WindowExecution simulate(const Program& program, const Machine& machine);

/// Random epochs of all kinds.
Program random_program(std::uint32_t seed);

/// What happened, a line a call.
std::string text(const WindowExecution& execution);

/// As oracle::write_archive.
void write_archive(const std::string& directory, const Program& program, const Machine& machine,
                   const WindowExecution& execution);

}  // namespace critpath::oracle::windows

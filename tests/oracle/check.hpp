// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way of a recipe through the whole analysis: simulated, written as an archive, read, replayed and judged.
#pragma once

#include "replayer/rules/calibration.hpp"
#include "replayer/rules/rule_set.hpp"
#include "tests/builder/replayed.hpp"
#include "tests/oracle/archive.hpp"
#include "tests/oracle/grammar.hpp"
#include "tests/oracle/judge.hpp"

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace critpath::oracle
{

/// What the analysis knows of the machine: what it learns from the trace, the truth, or that messages and collectives
/// are twice as fast, or half as fast, as they are.
enum class Weights : std::uint8_t { Learned, Known, TwiceAsFast, HalfAsFast };

/// What the replay is told of the machine, where it is told anything.
Machine as_told(Machine machine, Weights weights);

/// Puts the truth about a machine in the place of what was learned.
void tell(const Machine& machine, replayer::rules::Calibration& calibration);

/// What the replay knows when the clocks are done, from the archive that `write` makes on process 0 in a directory of
/// its own, which is removed. Collective over `comm`.
replayer::Replay load(MPI_Comm comm, const std::function<void(const std::string& directory)>& write);
replayer::Replay load(const Program& program, const Machine& machine, const Execution& execution,
                      const Clocks& clocks = {}, MPI_Comm comm = MPI_COMM_SELF);

/// Alone, by the calling process. The archive goes to a directory of its own, which is removed.
tests::Replayed analyze(const Program& program, const Machine& machine, const Execution& execution, Weights weights,
                        replayer::Rules rules = replayer::Rules::Arrival, const Clocks& clocks = {});

struct Outcome {
    Verdict verdict;
    std::string broken;  // what does not hold that must always hold; empty: all does
};

/// What does not hold of the path of a program that took so long, as in Outcome: that it is one chain from the first
/// moment to the last, and that the replay could use all that was recorded (the facts `all_used` are 0).
std::string broken(const tests::Replayed& replayed, std::int64_t makespan, std::span<const char* const> all_used);

Outcome check(const Recipe& recipe, const Machine& machine, Weights weights,
              replayer::Rules rules = replayer::Rules::Arrival);

}  // namespace critpath::oracle

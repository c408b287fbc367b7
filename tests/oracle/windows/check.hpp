// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the analysis is put beside the truth about a random program of one-sided communication.
#pragma once

#include "tests/oracle/check.hpp"
#include "tests/oracle/windows/program.hpp"

#include <string>

namespace critpath::oracle::windows
{

struct Judged : Outcome {
    std::string words;  // what happened, and the path
};

/// As oracle::load.
replayer::Replay load(const Program& program, const Machine& machine, const WindowExecution& execution,
                      MPI_Comm comm = MPI_COMM_SELF, const Clocks& clocks = {});

/// What the analysis finds in what was loaded, beside the truth. `words` is the path.
Judged judge(replayer::Replay replay, const Execution& execution, const Machine& machine, Weights weights,
             replayer::Rules rules);

Judged check(const Recipe& recipe, const Machine& machine, Weights weights,
             replayer::Rules rules = replayer::Rules::Arrival);

}  // namespace critpath::oracle::windows

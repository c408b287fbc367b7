// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns for whom a thread was blocked outside of MPI where several threads of a process call it, and nobody recorded
// that. (docs/ALGORITHM, "Threads")
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/rules/predecessor.hpp"

#include <vector>

namespace critpath::replayer
{

struct GuessedWait {
    model::CallRef waiter;    // the point at which it went on
    rules::Enter waited_for;  // just before that, on another thread: where its next call or point would be. Not valid:
                              // it is in doubt whether there is one that leads elsewhere
};

/// In no order; none where only one thread calls MPI, or where the trace says how the threads met.
std::vector<GuessedWait> guessed_waits(const model::Definitions& definitions, const model::ProcessTrace& trace);

}  // namespace critpath::replayer

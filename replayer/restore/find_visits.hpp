// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns who was preempted inside of MPI while the path waited there: the partners of messages and the members of
// collectives are asked. (docs/ALGORITHM, "Samples")
#pragma once

#include "replayer/restore/long_waits.hpp"

#include <tuple>
#include <vector>

namespace critpath::replayer
{

/// Who was preempted, and the end of that was the last thing that was waited for.
struct Visit {
    model::Ns begin{}, end{};
    model::CallRef call;  // invalid: nobody
    bool is_sure = false;

    [[nodiscard]] auto order() const { return std::tuple(call.valid(), end, is_sure, call); }
};

/// By wait. Collective over `replay.comm`.
std::vector<Visit> find_visits(const Replay& replay, const Predecessors& predecessors, const Path& path,
                               const std::vector<LongWait>& waits);

}  // namespace critpath::replayer

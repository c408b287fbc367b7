// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which waits on the path are longer than what they wait for explains, and who else may have made them long.
#pragma once

#include "replayer/restore/restore.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// A wait on the path: what leads to a piece, or a call on its stretch.
struct LongWait {
    static constexpr std::uint32_t lead = UINT32_MAX;

    std::size_t piece;   // index into Path::pieces
    std::uint32_t call;  // of the piece's location; or `lead`
    model::Ns begin, end;
    model::Ns until{};                       // from then on, who waits lacked a processor itself; else the end
    model::Ns transfer{};                    // what it waits for takes that when all are there
    model::CallRef last;                     // a collective: the call of the last one to come; invalid: messages
    std::vector<model::ProcessId> partners;  // of the messages, ascending

    /// What it waits for may take so long once all have a processor. That of a collective has more steps.
    [[nodiscard]] model::Ns moment() const { return 4 * transfer + std::chrono::microseconds{last.valid() ? 50 : 20}; }
};

/// In order of pieces and of time.
std::vector<LongWait> find_long_waits(const Replay& replay, const Predecessors& predecessors, const Path& path);

}  // namespace critpath::replayer

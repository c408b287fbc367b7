// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the steps of the phase "peers" behind the choice of places: the gaps on the path against those of the peers, and
// the gaps of all ranks against each other.
#pragma once

#include "analysis/model/stretch.hpp"
#include "replayer/peers/gaps.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// The places that are worth an explanation, and the gaps of the owned processes there.
struct Chosen {
    struct OnPath {
        std::int64_t ns;
        std::uint32_t place, occurrence;
    };
    /// By place and by index into Replay::processes: gaps, ascending. Entry k is occurrence k.
    std::vector<std::vector<std::vector<std::uint32_t>>> gaps;
    /// By index into Replay::processes: those that are on the path, in order of time.
    std::vector<std::vector<OnPath>> on_path;
};

/// Compares each gap on the path with the same occurrence on the other processes; adds to `sums`, by place, what the
/// owned processes have on the path, and returns how much each of them has. Collective over `replay.comm`.
std::vector<model::StretchShare> compare(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                                         std::vector<model::Stretch>& sums);

/// Fills in which differences between ranks, and nodes, persist, and how many ranks are slow. Collective over
/// `replay.comm`; the same on all processes.
void find_persistence(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen,
                      std::vector<model::Stretch>& stretches);

}  // namespace critpath::replayer

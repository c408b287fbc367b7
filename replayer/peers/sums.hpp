// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns all that is known of chosen places, of all processes.
#pragma once

#include "analysis/model/stretch.hpp"
#include "replayer/peers/chosen.hpp"

#include <cstdint>
#include <vector>

namespace critpath::replayer
{

struct Sums {
    std::vector<model::Stretch> stretches;    // by place, of all processes
    std::vector<Longer> longer;               // likewise
    std::vector<model::StretchShare> shares;  // of the owned processes
    std::vector<model::StretchRank> ranks;    // likewise
};

/// Collective over `replay.comm`.
Sums sum_up(const Replay& replay, std::vector<Gaps>& gaps, const Chosen& chosen);

}  // namespace critpath::replayer

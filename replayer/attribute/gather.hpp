// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the sums of all processes become one Profile on process 0.
#pragma once

#include "analysis/model/profile.hpp"
#include "analysis/model/totals.hpp"
#include "replayer/attribute/code_of_peers.hpp"
#include "replayer/attribute/places.hpp"
#include "replayer/attribute/tally.hpp"

#include <vector>

namespace critpath::replayer
{

/// Fills everything of the profile but facts and properties (StretchCode::peers_ns is that of all gaps of `peers` yet);
/// on the other processes it stays empty, but for `path_samples` and `low_confidence_ns` nothing else is known there.
/// Collective over `replay.comm`.
void gather(const Replay& replay, const Tally& tally, const CodeOfPeers& peers, const Places& places,
            model::Profile& profile);

/// Of the times of all ranks, those in the part of the run that this process is to write: in the order of totals.bin,
/// behind those of the processes before it. Collective.
std::vector<model::TotalPart> gather_totals(const Replay& replay, const Totals& totals, const Places& places);

}  // namespace critpath::replayer

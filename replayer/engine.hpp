// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the choice of how processes tell each other what they know of the trace. The result does not depend on it.
#pragma once

#include "replayer/collect/collect.hpp"
#include "replayer/pair/pair.hpp"
#include "replayer/restore/restore.hpp"

namespace critpath::replayer
{

struct Engine {
    Pairs (*pair)(const Replay& replay, rules::Calibration& calibration);
    ReduceInstances reduce_instances;
    WalkPath walk_path;
};

/// In bulk: the default.
extern const Engine aggregated_engine;
/// As the Seed does it: message by message, collective by collective, hop by hop.
extern const Engine literal_engine;

}  // namespace critpath::replayer

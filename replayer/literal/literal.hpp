// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the literal engine: the Seed's way to do what the phases do in bulk by default. Each recorded message is one
// message again, each recorded collective one reduction, and the path is walked by a token that goes from process to
// process. It is the yardstick: what the default engine finds must be the same to the last byte, and cheaper.
// (docs/ALGORITHM, "In parallel")
#pragma once

#include "replayer/collect/instances.hpp"
#include "replayer/pair/pair.hpp"

#include <vector>

namespace critpath::replayer::literal
{

/// As replayer::pair. Throws std::logic_error if MPI gives a receive a message of another channel or number.
Pairs pair(const Replay& replay, rules::Calibration& calibration);

/// As replayer::reduce_instances.
InstanceCounts reduce_instances(const Replay& replay, const Members& members, const VisitInstances& visit);

}  // namespace critpath::replayer::literal

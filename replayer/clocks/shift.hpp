// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the correction of the times of a process.
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/clocks/curve.hpp"

namespace critpath::replayer::clocks
{

/// Gives every time in `trace` the value that the second clock of `curve` shows. Their order stays.
void shift(model::ProcessTrace& trace, const Curve& curve);

}  // namespace critpath::replayer::clocks

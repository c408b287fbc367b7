// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns since when who waits for a message lacks no message but a processor. (docs/ALGORITHM, "Samples")
#pragma once

#include "analysis/model/trace.hpp"

namespace critpath::replayer
{

/// Between `begin` and `end`, a message to this location, which takes `transfer`, was on its way or lay there: the
/// first moment from which on it lay there because the thread was preempted; `end` if that was not so.
model::Ns lacks_processor_since(const model::LocationTrace& location, model::Ns begin, model::Ns end,
                                model::Ns transfer);

}  // namespace critpath::replayer

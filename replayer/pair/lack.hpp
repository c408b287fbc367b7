// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns who lacks a processor inside of MPI: since when who waits for a message lacks nothing else, and when who is
// waited for had none. (docs/ALGORITHM, "Samples")
#pragma once

#include "analysis/model/trace.hpp"

#include <cstdint>
#include <optional>

namespace critpath::replayer
{

/// Between `begin` and `end`, a message to this location, which takes `transfer`, was on its way or lay there: the
/// first moment from which on it lay there because the thread was preempted; `end` if that was not so.
model::Ns lacks_processor_since(const model::LocationTrace& location, model::Ns begin, model::Ns end,
                                model::Ns transfer);

/// A thread was preempted inside of one call, and in between had a processor for moments only.
struct Preempted {
    std::uint32_t call;
    model::Ns since;  // it was in the call since then, or since the time that was asked for
    model::Ns begin, end;
};

/// The last time that was over in (since, until], cut off at `since`. `moment`: who runs for no longer has done nothing
/// for others.
std::optional<Preempted> last_preempted(const model::LocationTrace& location, model::Ns since, model::Ns until,
                                        model::Ns moment);

}  // namespace critpath::replayer

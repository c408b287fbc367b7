// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns which functions do nothing but look whether something has come, so that their samples say nothing of what a call
// of MPI takes its time for: some are known by name, others learned from the trace. (docs/ALGORITHM, "Inside MPI")
#pragma once

#include "replayer/analysis.hpp"
#include "replayer/resolve/answers.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace critpath::replayer
{

/// The samples of a function by what its thread did, as the calls around them tell.
struct SpinEvidence {
    std::int64_t waits = 0;   // it waited for somebody who had not come yet: nothing can have arrived
    std::int64_t flight = 0;  // in MPI, with something on its way, or for a reason that nobody knows
    std::int64_t work = 0;    // outside of MPI, or in a call that waited for nobody

    SpinEvidence& operator+=(const SpinEvidence& more);
    [[nodiscard]] std::int64_t samples() const { return waits + flight + work; }
};

/// Whether a function that was sampled in MPI spins. `all`: of the samples of all functions.
bool spins(std::string_view function, const SpinEvidence& evidence, const SpinEvidence& all);

/// Whether a function that spinning ones call, and nobody else, spins for them. `callers`: of the samples of the
/// former.
bool spins_for_callers(const SpinEvidence& evidence, const SpinEvidence& callers);

class SpinFunctions
{
public:
    /// Collective over `replay.comm`. `replay` must outlive this.
    SpinFunctions(const Replay& replay, const Predecessors& predecessors);

    /// Of a sampled function.
    [[nodiscard]] bool has(model::ContextId context) const
    {
        return spins_[replay_.definitions.contexts[context.value].region.value];
    }

private:
    const Replay& replay_;
    std::vector<bool> spins_;  // by RegionId
};

}  // namespace critpath::replayer

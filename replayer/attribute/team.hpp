// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the threads of a process do for each other where nothing is recorded of that: which samples are of a thread
// that waits for the others of its team, and what those do meanwhile. (docs/ALGORITHM, "Samples")
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/attribute/places.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// Contexts in which a thread waits for others: those of the libraries of OpenMP, which call the loops of the
/// application, and otherwise do next to nothing but wait until all have done theirs.
class TeamWaits
{
public:
    explicit TeamWaits(const model::Definitions& definitions);

    /// The sampled function is of such a library, or of the C library that it called.
    [[nodiscard]] bool has(model::ContextId context) const { return waits_[context.value]; }
    /// The function of the application that came there; none() if the trace does not know.
    [[nodiscard]] model::ContextId waiter(model::ContextId context) const;
    /// What a sample is time of.
    [[nodiscard]] Place place_of(const model::Sample& sample) const;

private:
    const model::Definitions& definitions_;
    std::vector<bool> waits_, is_runtime_, is_c_library_;  // by ContextId
};

/// A sample of what another thread did.
struct Work {
    const model::LocationTrace* location;
    std::size_t index;  // into its samples
    [[nodiscard]] const model::Sample& sample() const { return location->samples[index]; }
};

/// Samples of what the threads of `trace` but `waiting` did in (begin, end]: not of those that wait as well, nor in
/// calls of MPI.
std::vector<Work> work_of_others(const model::ProcessTrace& trace, model::LocationId waiting, model::Ns begin,
                                 model::Ns end, const TeamWaits& waits);
/// What they did around a sample of `waiting`: threads are not sampled at the same moments.
std::vector<Work> work_around(const model::ProcessTrace& trace, model::LocationId waiting, const model::Sample& sample,
                              const TeamWaits& waits);

/// How long they lacked a processor in [begin, end], all together; not those that waited before that.
std::int64_t preemption_of_others(const model::ProcessTrace& trace, model::LocationId waiting, model::Ns begin,
                                  model::Ns end, const TeamWaits& waits);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a sample is code of: of the application, of the collector, or of a library of OpenMP, in which a thread
// waits for the others of its team. (docs/ALGORITHM, "Samples")
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/attribute/places.hpp"

#include <set>
#include <span>
#include <vector>

namespace critpath::replayer
{

/// The libraries of OpenMP call the loops of the application, and otherwise do next to nothing but wait until all have
/// done theirs.
class SampledCode
{
public:
    /// Of the threads of `processes`, it knows which ones have nothing to do with these libraries.
    explicit SampledCode(const model::Definitions& definitions, std::span<const model::ProcessTrace> processes = {});

    /// The sampled function is of a library of OpenMP, or of the C library that it called.
    [[nodiscard]] bool waits_for_team(model::ContextId context) const { return waits_[context.value]; }
    /// The function of the application that came there; none() if the trace does not know.
    [[nodiscard]] model::ContextId waiter(model::ContextId context) const;
    /// What a sample is time of: [measurement], if the collector works, and [waiting for threads] if it waits, below
    /// who came there; or its context.
    [[nodiscard]] Place place_of(const model::Sample& sample) const;
    /// Nobody in a library of OpenMP waits for this thread: its samples have callers, none of them came by one, and
    /// none is known to be cut off.
    [[nodiscard]] bool is_apart(model::LocationId thread) const { return apart_.contains(thread); }
    /// The sampled function, or who called the C library for it; none() if that is not known.
    [[nodiscard]] model::RegionId function(model::ContextId context) const;

private:
    [[nodiscard]] model::ContextId outside_c_library(model::ContextId context) const;
    /// The C library, called by the collector as the application had called it: pthread_create, dlsym.
    [[nodiscard]] bool is_for_application(model::ContextId context) const;
    [[nodiscard]] bool is_of_no_team(const model::LocationTrace& thread) const;

    const model::Definitions& definitions_;
    std::vector<bool> waits_, is_runtime_, is_c_library_, measures_, may_be_of_team_;  // by ContextId
    std::set<model::LocationId> apart_;
};

}  // namespace critpath::replayer

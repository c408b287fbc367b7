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
#include <set>
#include <span>
#include <vector>

namespace critpath::replayer
{

/// Contexts in which a thread waits for others: those of the libraries of OpenMP, which call the loops of the
/// application, and otherwise do next to nothing but wait until all have done theirs. And of the threads of
/// `processes`, which ones have nothing to do with these libraries.
class TeamWaits
{
public:
    explicit TeamWaits(const model::Definitions& definitions, std::span<const model::ProcessTrace> processes = {});

    /// The sampled function is of such a library, or of the C library that it called.
    [[nodiscard]] bool has(model::ContextId context) const { return waits_[context.value]; }
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

/// A sample of what another thread did.
struct Work {
    const model::LocationTrace* location;
    std::size_t index;  // into its samples
    [[nodiscard]] const model::Sample& sample() const { return location->samples[index]; }
};

/// A thread that waits for the others of its process in [begin, end].
struct Waiter {
    const model::ProcessTrace& trace;
    model::LocationId location;
    model::Ns begin, end;
    model::Ns back;  // when it has a processor again: with `end`, or behind it
};

/// Samples of what the threads did in (begin, end] that `waiter`, which is blocked, may wait for: not of those that
/// wait as well, nor in calls of MPI. A thread that has nothing to do with OpenMP is none of them if it goes on when
/// the waiter is back.
std::vector<Work> work_of_others(const Waiter& waiter, const TeamWaits& waits);
/// What its team did around a sample of `waiting`, which spins: threads are not sampled at the same moments.
std::vector<Work> work_around(const model::ProcessTrace& trace, model::LocationId waiting, const model::Sample& sample,
                              const TeamWaits& waits);

/// How long a thread had a processor in [begin, end], if `waiter`, which is blocked, may wait for it: 0 if the next
/// sample finds it waiting as well, or if it was in a call of MPI.
std::int64_t running(const Waiter& waiter, const model::LocationTrace& location, const TeamWaits& waits);

/// How long threads that `waiter`, which is blocked, may wait for lacked a processor in [begin, end], all together; not
/// those that waited before that.
std::int64_t preemption_of_others(const Waiter& waiter, const TeamWaits& waits);

}  // namespace critpath::replayer

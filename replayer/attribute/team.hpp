// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the threads of a process do for each other where nothing is recorded of that: for whom a thread that is
// blocked, or spins in a library of OpenMP, may wait, and what those do meanwhile. (docs/ALGORITHM, "Samples")
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/attribute/sampled_code.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace critpath::replayer
{

/// Between which calls of MPI a thread is, by what they are and from where they are made; none() for the ends of its
/// run. What others do for it there is not what they do for it elsewhere.
struct Between {
    model::ContextId before, after;
    bool operator==(const Between&) const = default;
};
Between calls_around(const model::LocationTrace& location, model::Ns time);

/// A sample of what another thread did.
struct Work {
    const model::LocationTrace* location;
    std::size_t index;  // into its samples
    [[nodiscard]] const model::Sample& sample() const { return location->samples[index]; }
};

/// The time that these samples stand for, ns.
std::int64_t weight_of(const std::vector<Work>& work);

/// A thread that waits for the others of its process in [begin, end].
struct Waiter {
    const model::ProcessTrace& trace;
    model::LocationId location;
    model::Ns begin, end;
    model::Ns back;  // when it has a processor again: with `end`, or behind it
    model::WaitsFor waits_for = model::WaitsFor::Unknown;
    bool all_go_on = false;     // it waits for a thread, and all that worked go on when it is back
    bool is_preempted = false;  // it lacks a processor, and may wait for its team alone
};

Waiter waiter_of(const model::ProcessTrace& trace, model::LocationId location, const model::OffProcessor& off,
                 model::Ns begin, model::Ns end, const SampledCode& code);

/// Whether the thread, which was preempted, spins for its team as soon as it has a processor again: until then it has
/// missed nothing.
bool spins_behind(const model::LocationTrace& location, const model::OffProcessor& off, const SampledCode& code);

/// Samples of what the threads did in (begin, end] that `waiter`, which is blocked, may wait for: not of those that
/// wait as well, nor in calls of MPI. A thread that has nothing to do with OpenMP is none of them if it goes on when
/// the waiter is back, unless that is known to wait for a thread, and all go on.
std::vector<Work> work_of_others(const Waiter& waiter, const SampledCode& code);
/// What its team did around a sample of `waiting`, which spins: threads are not sampled at the same moments. But only
/// between two such calls as those that it spins between.
std::vector<Work> work_around(const model::ProcessTrace& trace, model::LocationId waiting, const model::Sample& sample,
                              const SampledCode& code);

/// Whether the trace says when a thread began, and not only what it saw first of it.
bool is_begin_known(const model::LocationTrace& location);

/// A thread that was over soon, and how long it had a processor while another one waited.
struct ShortLife {
    const model::LocationTrace* location;
    std::int64_t ns;
};
/// Those that are over when `waiter` is back.
std::vector<ShortLife> short_lives_in(const Waiter& waiter, const SampledCode& code);

/// How long a thread had a processor in [begin, end], if `waiter`, which is blocked, may wait for it: 0 if the next
/// sample finds it waiting as well, or if it was in a call of MPI.
std::int64_t running(const Waiter& waiter, const model::LocationTrace& location, const SampledCode& code);

/// The last sample of a thread before `time`, in the same computation, if it worked then; else null.
const model::Sample* work_before(const model::LocationTrace& location, model::Ns time, const SampledCode& code);

/// What a thread lacked of a processor while another was blocked.
struct Lack {
    const model::LocationTrace* location;
    const model::OffProcessor* off;
    std::int64_t ns;  // the part of it
};

/// All together, ns.
std::int64_t time_of(const std::vector<Lack>& lacks);

/// When threads that `waiter`, which is blocked, may wait for lacked a processor in [begin, end]; not those that waited
/// before that.
std::vector<Lack> preemption_of_others(const Waiter& waiter, const SampledCode& code);

/// What one thread did while another waited.
struct ThreadWork {
    std::vector<Work> work;
    std::int64_t most;  // ns: what these samples stand for, as far as it had a processor meanwhile
};

/// `work` by thread, without those that had no processor while `waiter` waited.
std::vector<ThreadWork> by_thread(const Waiter& waiter, const std::vector<Work>& work);

/// For how long of [begin, end] nobody is seen to work for `waiter`: a wait without a sample has what samples in others
/// leave to it, which is at most for as long as somebody had a processor.
std::int64_t idle_for(const Waiter& waiter, const SampledCode& code);

/// Of the time in which a thread spun, without a pause, what its team lacked of a processor.
struct LackWhileSpinning {
    std::vector<Lack> lacks;
    model::Ns begin;  // of that time
    std::int64_t ns;  // of it, theirs: as much as they lacked of the time in which they worked or would have
};

/// For what `waiting` spun in the time of its sample, but for what is before `begin`, if `work` was done around that.
std::vector<LackWhileSpinning> lacks_while_spinning(const model::ProcessTrace& trace,
                                                    const model::LocationTrace& waiting, const model::Sample& sample,
                                                    model::Ns begin, const std::vector<Work>& work,
                                                    const SampledCode& code);

}  // namespace critpath::replayer

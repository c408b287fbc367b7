// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/resolve/resolve.hpp"

#include "replayer/pair/lookup.hpp"
#include "replayer/resolve/calls.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using model::SegmentKind;
using rules::Route;

SegmentKind kind_of(Route route)
{
    switch (route) {
    case Route::Delay:
        return SegmentKind::Delay;
    case Route::Completion:
    case Route::Collective:
        return SegmentKind::Collective;
    case Route::Message:
        return SegmentKind::Transfer;
    case Route::Work:
    case Route::Ask:
        break;
    }
    return SegmentKind::Mpi;
}

model::Confidence confidence_of(const rules::Predecessor& predecessor)
{
    if (predecessor.within_clocks)
        return model::Confidence::WithinClocks;
    if (predecessor.low_confidence)
        return model::Confidence::Low;
    return predecessor.meeting ? model::Confidence::Meeting : model::Confidence::Full;
}

/// Calls that no message and no member explains: long ones are delays, if the operation could have waited at all.
void assume_delays(const Replay& replay, const model::ProcessTrace& trace, const rules::CallCosts& costs,
                   ProcessAnswers& answers)
{
    if (replay.rules != Rules::Arrival)
        return;  // the other rule sets know no delays
    for (std::size_t l = 0; l < trace.locations.size(); ++l) {
        const model::LocationTrace& location = trace.locations[l];
        for (std::uint32_t i = 0; i < location.calls.size(); ++i) {
            const CallRef call{location.location, {i}};
            if (rules::operation(function_of(replay.definitions, trace, call)).blocking &&
                waiting(replay, trace, costs, call).waited())
                answers.set(call, {Route::Delay, {}, 0, true});
        }
    }
}

std::uint64_t forward_jumps(const std::vector<LocationPredecessors>& locations, const rules::ClockUncertainty& clocks)
{
    std::uint64_t count = 0;
    for (const LocationPredecessors& location : locations)
        count += static_cast<std::uint64_t>(std::ranges::count_if(location.jumps, [&](const Jump& jump) {
            return jump.kind == SegmentKind::Collective && jump.to_enter > jump.leave &&
                   jump.to_enter - jump.leave > clocks.between(jump.call.location, jump.to.location);
        }));
    return count;
}

/// Collectives that somebody left before all had come, by more than the clocks are off, though that cannot be.
std::uint64_t left_too_early(const Replay& replay, const Collectives& collectives, Ns error)
{
    std::uint64_t count = 0;
    for (std::size_t p = 0; p < replay.processes.size(); ++p)
        for (std::size_t i = 0; i < replay.processes[p].collectives.size(); ++i) {
            const model::CollectiveCall& call = replay.processes[p].collectives[i];
            const rules::CollectiveCase c = collectives.of(p, i);
            const rules::Member member = collectives.members.describe(p, i);
            const bool counts = c.instance->last.call == call.begin() && !c.inter && usable(*c.instance, c.size) &&
                                rules::needs_all(member.function, member.bytes);
            count += counts && c.instance->first_leave < (c.instance->last.time - error).count() ? 1 : 0;
        }
    return count;
}

}  // namespace

ProcessAnswers::ProcessAnswers(const Replay& replay, std::size_t process) : trace_(replay.processes[process])
{
    for (const model::LocationTrace& location : trace_.locations)
        locations_.push_back({{}, std::vector<Through>(location.calls.size())});
}

void ProcessAnswers::set(model::CallRef call, const rules::Predecessor& predecessor)
{
    LocationPredecessors& location = locations_[local_index(trace_, call.location)];
    const SegmentKind kind = kind_of(predecessor.route);
    if (predecessor.is_jump())
        location.jumps.push_back({call, leave_of(trace_, call), predecessor.from.call, predecessor.from.time,
                                  predecessor.bytes, calls_of(trace_, call.location).region(call.call.value), kind,
                                  confidence_of(predecessor)});
    else
        location.through[call.call.value] = Through{kind, confidence_of(predecessor)};
}

std::vector<LocationPredecessors> ProcessAnswers::finish()
{
    for (LocationPredecessors& location : locations_)
        std::ranges::sort(location.jumps, {}, [](const Jump& jump) { return jump.call.call; });
    return std::move(locations_);
}

Predecessors resolve(const Replay& replay, const Pairs& pairs, const std::vector<ProcessWindows>& windows,
                     const Collectives& collectives, const rules::Calibration& calibration)
{
    const auto completed = completed_collectives(replay, collectives, calibration);
    std::vector<ProcessAnswers> answers;
    for (std::size_t p = 0; p < replay.processes.size(); ++p) {
        answers.emplace_back(replay, p);
        assume_delays(replay, replay.processes[p], calibration.calls, answers[p]);
        resolve_completions(replay, p, {pairs.processes[p], windows[p], completed[p]}, calibration, answers[p]);
    }
    resolve_collectives(replay, collectives, calibration, answers);

    Predecessors result;
    result.clock_violations = left_too_early(replay, collectives, calibration.clocks.largest());
    for (ProcessAnswers& process : answers) {
        result.processes.push_back(process.finish());
        result.clock_violations += forward_jumps(result.processes.back(), calibration.clocks);
    }
    MPI_Allreduce(MPI_IN_PLACE, &result.clock_violations, 1, MPI_UINT64_T, MPI_SUM, replay.comm);
    return result;
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/resolve/answers.hpp"

#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <utility>

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
    case Route::Thread:
        return SegmentKind::Thread;
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

}  // namespace

ProcessAnswers::ProcessAnswers(const Replay& replay, std::size_t process) : trace_(replay.processes[process])
{
    for (const model::LocationTrace& location : trace_.locations)
        locations_.push_back(
            {JumpTable(replay.definitions.locations.size()), std::vector<Through>(location.calls.size())});
}

void ProcessAnswers::set(model::CallRef call, const rules::Predecessor& predecessor)
{
    const std::size_t index = local_index(trace_, call.location);
    LocationPredecessors& location = locations_[index];
    const SegmentKind kind = kind_of(predecessor.route);
    if (predecessor.is_jump())
        location.jumps.add(
            {{call, trace_.locations[index].calls.leave(call.call.value), predecessor.from.call, predecessor.from.time},
             predecessor.bytes,
             {},
             kind,
             confidence_of(predecessor),
             predecessor.peer,
             predecessor.sends});
    else
        location.through[call.call.value] = Through{kind, confidence_of(predecessor)};
}

void ProcessAnswers::set_end(model::CallRef call, const rules::Predecessor& predecessor, bool polls)
{
    if (!polls || predecessor.is_jump())
        set(call, predecessor);
    else if (predecessor.within_clocks)
        set(call, {Route::Work, {}, 0, true, true});
}

std::vector<LocationPredecessors> ProcessAnswers::finish()
{
    for (LocationPredecessors& location : locations_)
        location.jumps.sort();
    return std::move(locations_);
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a call is found from a reference to it, within the process that made it.
#pragma once

#include "analysis/model/trace.hpp"
#include "replayer/rules/calibration.hpp"
#include "replayer/rules/predecessor.hpp"

#include <cstddef>

namespace critpath::replayer
{

using model::CallRef;
using model::LocationId;
using model::Ns;
using model::ProcessId;

/// Position of a location of `trace` in `trace.locations`.
inline std::size_t local_index(const model::ProcessTrace& trace, LocationId location)
{
    return location.value - trace.locations.front().location.value;
}

inline const model::Calls& calls_of(const model::ProcessTrace& trace, LocationId location)
{
    return trace.locations[local_index(trace, location)].calls;
}

inline rules::Enter enter_of(const model::ProcessTrace& trace, CallRef ref)
{
    return {ref, calls_of(trace, ref.location).enter(ref.call.value)};
}

/// The leave of a call; the end of all time for a call that never came.
inline Ns leave_of(const model::ProcessTrace& trace, CallRef ref)
{
    return ref.valid() ? calls_of(trace, ref.location).leave(ref.call.value) : Ns::max();
}

/// The enter of a call; the end of all time for a call that never came.
inline Ns time_of(const model::ProcessTrace& trace, CallRef ref)
{
    return ref.valid() ? enter_of(trace, ref).time : Ns::max();
}

inline functions::FunctionId function_of(const model::Definitions& definitions, const model::ProcessTrace& trace,
                                         CallRef ref)
{
    return definitions.region(calls_of(trace, ref.location).context(ref.call.value)).function;
}

/// What the operation does: as its function says, or, where that is MPI_Start or not in the table, as the trace says.
inline functions::FunctionId function_of(const model::Definitions& definitions, const model::ProcessTrace& trace,
                                         const model::CollectiveCall& collective)
{
    using enum functions::SemanticClass;
    const auto function = function_of(definitions, trace, collective.begin());
    const auto begun_by = functions::semantic_class(function);
    const bool may_be_any = function >= functions::FunctionId::count || begun_by == Start || begun_by == Startall;
    return may_be_any && !collective.is_blocking() ? collective.operation : function;
}

/// The call before, if it was an MPI_Request_get_status or MPI_Parrived and this one completes requests: most likely
/// what that found.
inline model::CallRef status_poll_before(const model::Definitions& definitions, const model::ProcessTrace& trace,
                                         CallRef ref)
{
    using enum functions::SemanticClass;
    const model::Calls& calls = calls_of(trace, ref.location);
    const auto class_of = [&](std::size_t call) {
        return functions::semantic_class(definitions.region(calls.context(call)).function);
    };
    const std::size_t before = calls.behind_last_call(ref.call.value);
    if (before == 0 || (class_of(before - 1) != RequestGetStatus && class_of(before - 1) != Parrived))
        return {};
    const auto own = class_of(ref.call.value);
    if (own != Wait && own != Waitall && own != Waitany && own != Waitsome && own != RequestFree)
        return {};  // of its own message nobody can have asked
    return {ref.location, {static_cast<std::uint32_t>(before - 1)}};
}

inline rules::Link link_between(const model::Definitions& definitions, ProcessId a, ProcessId b)
{
    const bool same = a == b || definitions.processes[a.value].node == definitions.processes[b.value].node;
    return same ? rules::Link::SameNode : rules::Link::OtherNode;
}

}  // namespace critpath::replayer

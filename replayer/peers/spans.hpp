// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the spans of the owned processes: what a process' first thread does between two calls that may wait for others.
// Calls that may not, such as MPI_Irecv and MPI_Test, divide a span into gaps. Other ranks may make them elsewhere, or
// not at all, and have the same work on the other side of them.
#pragma once

#include "replayer/peers/gaps.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace critpath::replayer
{

/// Gaps that follow each other: [first, end).
struct Span {
    std::size_t first, end;
    GapPlace bounds;  // the calls before and behind it, as Spans::meeting() has them
};

class Spans
{
public:
    /// Collective over `replay.comm`.
    Spans(const Replay& replay, const Predecessors& predecessors, const SameCalls& same);

    /// Between collectives only, in front of which and behind which all have met.
    [[nodiscard]] Spans between_meetings() const
    {
        Spans result = *this;
        result.is_bound_ = &calls_->is_collective;
        return result;
    }

    /// The end of the one that begins with the gap `first`.
    [[nodiscard]] std::size_t end(const Gaps& gaps, std::size_t first) const
    {
        std::size_t last = first;
        while (last + 1 < gaps.end() && !is_bound(gaps.place(last).after))
            ++last;
        return last + 1;
    }

    /// Calls `visit(Span)` for each of a process, in order of time.
    template <class Visit>
    void for_each(const Gaps& gaps, Visit visit) const
    {
        for (std::size_t first = 0; first < gaps.end();) {
            const std::size_t behind = end(gaps, first);
            visit(Span{first, behind, bounds(gaps, first, behind)});
            first = behind;
        }
    }

    /// The calls around the one of these gaps, as meeting() has them.
    [[nodiscard]] GapPlace bounds(const Gaps& gaps, std::size_t first, std::size_t end) const
    {
        return {meeting(gaps.place(first).before), meeting(gaps.place(end - 1).after)};
    }

    /// All that is done in [first, end).
    [[nodiscard]] Gap measure(Gaps& gaps, std::size_t first, std::size_t end) const
    {
        return gaps.measure_span(first, end, calls_->is_between_polls);
    }

    /// The call that stands for all that have met in a collective, whatever functions they are made in. `call`: as
    /// places have it.
    [[nodiscard]] model::ContextId meeting(model::ContextId call) const
    {
        return call.valid() ? model::ContextId{calls_->meeting[call.value]} : call;
    }
    /// Whether gaps at the place are parts of longer spans.
    [[nodiscard]] bool are_parts(GapPlace place) const
    {
        return (place.before.valid() && !calls_->can_wait[place.before.value]) || !calls_->can_wait[place.after.value];
    }
    [[nodiscard]] std::size_t contexts() const { return calls_->meeting.size(); }

private:
    struct Calls {
        std::vector<bool> can_wait;          // by ContextId
        std::vector<bool> is_collective;     // of those that can
        std::vector<std::uint32_t> meeting;  // likewise
        BetweenPolls is_between_polls;
    };

    [[nodiscard]] bool is_bound(model::ContextId call) const { return (*is_bound_)[call.value]; }

    std::shared_ptr<const Calls> calls_;
    const std::vector<bool>* is_bound_;  // of these
};

}  // namespace critpath::replayer

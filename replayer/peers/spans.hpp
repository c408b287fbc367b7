// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the spans of the owned processes: what a process' first thread does between two calls that may wait for others.
// Calls that may not, such as MPI_Irecv and MPI_Test, divide a span into gaps. Other ranks may make them elsewhere, or
// not at all, and have the same work on the other side of them.
#pragma once

#include "replayer/peers/gaps.hpp"
#include "replayer/position_set.hpp"

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
    /// `gaps`: by index into Replay::processes. Collective over `replay.comm`.
    Spans(const Replay& replay, const Predecessors& predecessors, const SameCalls& same, const std::vector<Gaps>& gaps);

    /// Between collectives only, in front of which and behind which all have met. `gaps`: as above.
    [[nodiscard]] Spans between_meetings(const std::vector<Gaps>& gaps) const
    {
        Spans result = *this;
        result.find_begins(calls_->is_collective, gaps);
        return result;
    }

    /// The end of the one that the gap is in. `p`, here and below: index into Replay::processes.
    [[nodiscard]] std::size_t end(std::size_t p, std::size_t gap) const { return begins_[p].behind(gap); }

    /// Calls `visit(Span)` for each of a process, in order of time.
    template <class Visit>
    void for_each(std::size_t p, const Gaps& gaps, Visit visit) const
    {
        for (std::size_t first = 0; first < gaps.end();) {
            const Span span = around(p, gaps, first);
            visit(span);
            first = span.end;
        }
    }

    /// The one that the gap is in.
    [[nodiscard]] Span around(std::size_t p, const Gaps& gaps, std::size_t gap) const
    {
        const std::size_t first = begins_[p].at_or_before(gap).value_or(0), behind = end(p, gap);
        return {first, behind, {meeting(gaps.place(first).before), meeting(gaps.place(behind - 1).after)}};
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

    /// `is_bound`: by ContextId.
    void find_begins(const std::vector<bool>& is_bound, const std::vector<Gaps>& gaps);

    std::shared_ptr<const Calls> calls_;
    std::vector<PositionSet> begins_;  // by index into Replay::processes: gaps
};

}  // namespace critpath::replayer

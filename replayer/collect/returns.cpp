// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/returns.hpp"

#include "replayer/pair/lookup.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

constexpr std::uint32_t most_returns = 256;  // whoever enters MPI so often does not keep anything waiting

bool looks(const Replay& replay, const model::Calls& calls, std::size_t call)
{
    return !rules::only_posts(replay.definitions.region(calls.context(call)).function);
}

/// The last call of a location that was entered before `time`; the number of calls if there is none.
std::size_t last_before(const Replay& replay, const model::Calls& calls, Ns time, bool posts_look)
{
    std::size_t call = model::last_entered(calls, time - Ns{1});
    for (std::uint32_t i = 0; !posts_look && call < calls.size() && i < most_returns; ++i) {
        if (looks(replay, calls, call))
            return call;
        const std::size_t behind = calls.behind_last_call(call);
        call = behind > 0 ? behind - 1 : calls.size();
    }
    return call;
}

/// Since when all threads of the process were outside that came back at `time`.
Ns outside_since(const Replay& replay, const model::ProcessTrace& trace, Ns time, bool posts_look)
{
    Ns since = Ns::min();
    for (const model::LocationTrace& location : trace.locations)
        if (const std::size_t last = last_before(replay, location.calls, time, posts_look);
            last < location.calls.size())
            since = std::max(since, location.calls.leave(last));
    return since;
}

}  // namespace

rules::MemberInfo member_came_back(const Replay& replay, const Part& part, const Period& period)
{
    const model::ProcessTrace& trace = replay.processes[part.process];
    const model::CollectiveCall collective = trace.collectives[part.collective];
    const model::CallRef post = collective.begin();
    const model::CallRef end = collective.call;
    rules::MemberInfo result{{}, {}, part.rank, false, true};
    if (collective.is_blocking() || !end.valid() || post.location != end.location ||
        end.call.value - post.call.value > most_returns)
        return result;
    const model::Calls& calls = calls_of(trace, post.location);
    Ns longest{0};
    Ns since = calls.leave(post.call.value);
    for (std::uint32_t i = post.call.value + 1; i <= end.call.value; ++i) {
        if (calls.is_point(i))
            continue;
        if (calls.enter(i) > period.until)
            break;
        if (const Ns outside = calls.enter(i) - std::max(since, period.since); outside > longest) {
            longest = outside;
            result.enter = {{post.location, {i}}, calls.enter(i)};
            result.leave = since;
        }
        since = calls.leave(i);
    }
    return result;
}

rules::MemberInfo member_came_back_elsewhere(const Replay& replay, const Part& part, const Period& period,
                                             bool posts_look)
{
    const model::ProcessTrace& trace = replay.processes[part.process];
    const model::CallRef own = trace.collectives[part.collective].begin();
    const model::Calls& calls = calls_of(trace, own.location);
    rules::MemberInfo result{{}, {}, part.rank, false, true};
    Ns longest{0};
    // Behind its own part it holds up nobody any more.
    Ns until = std::min(period.until + Ns{1}, calls.enter(own.call.value));
    for (std::uint32_t i = 0; i < most_returns; ++i) {
        const std::size_t call = last_before(replay, calls, until, posts_look);
        if (call == calls.size() || calls.enter(call) - period.since <= longest)
            break;
        until = calls.enter(call);
        const Ns since = outside_since(replay, trace, until, posts_look);
        if (const Ns outside = until - std::max(since, period.since); outside > longest) {
            longest = outside;
            result.enter = {{own.location, {static_cast<std::uint32_t>(call)}}, until};
            result.leave = since;
        }
    }
    return result;
}

}  // namespace critpath::replayer

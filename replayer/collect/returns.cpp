// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/collect/returns.hpp"

#include "replayer/pair/lookup.hpp"
#include "replayer/rules/operation.hpp"

#include <algorithm>
#include <iterator>

namespace critpath::replayer
{

namespace
{

constexpr std::uint32_t most_returns = 256;  // whoever enters MPI so often does not keep anything waiting

/// The times that a member was outside in a period, and what may be asked about them.
class TimesOutside
{
public:
    TimesOutside(const Period& period, std::uint32_t rank) : period_(period), rank_(rank) {}

    /// The later ones first.
    void add(const rules::Enter& enter, Ns since)
    {
        if (since = std::max(since, period_.since); since < enter.time)
            times_.push_back({enter, since});
    }

    [[nodiscard]] std::vector<rules::MemberInfo> returns() const
    {
        std::vector<rules::MemberInfo> result;
        if (times_.empty())
            return result;
        // Each that is longer than all before it: who asks looks at the last one of these until its own end. Of those
        // that are as long, it is the first one: there is no end to those of who looks at regular intervals.
        for (auto time = times_.rbegin(); time != times_.rend(); ++time) {
            if (!result.empty() && time->ns() <= result.back().enter.time - result.back().leave)
                continue;
            if (!result.empty())
                result.back().longer = time->enter.time;
            result.push_back({time->enter, time->since, rank_, false, true});
        }
        if (result.size() > most_longer)
            result.erase(result.begin(), result.end() - most_longer);
        const rules::Enter longest = result.back().enter;
        const std::size_t least = result.size();
        Ns all{0};
        for (const Time& time : times_)
            all += time.ns();
        for (auto time = times_.begin(); time != times_.end() && is_near_end(*time); ++time) {
            if (time->enter.call != longest.call && may_stand_out(*time) && result.size() < least + most_late)
                result.push_back({time->enter, time->enter.time - all, rank_, false, true, time->ns()});
            all -= time->ns();
        }
        return result;
    }

private:
    struct Time {
        rules::Enter enter;
        Ns since;
        [[nodiscard]] Ns ns() const { return enter.time - since; }
    };

    static constexpr std::size_t most_late = 8, most_longer = 8;

    /// Who asks waited until then; but the period may be longer by a fifth (asked_period), and tells it from others
    /// only.
    [[nodiscard]] bool is_near_end(const Time& time) const
    {
        return period_.since != Ns::min() && period_.until != Ns::max() &&
               4 * (period_.until - time.enter.time) <= period_.until - period_.since;
    }
    [[nodiscard]] bool may_stand_out(const Time& time) const { return 64 * time.ns() >= period_.until - period_.since; }

    Period period_;
    std::uint32_t rank_;
    std::vector<Time> times_;
};

/// In such an operation, members that are not needed by the standard may be waited for: until it has posted its part,
/// one of them was as good as outside.
bool is_rooted(functions::FunctionId function)
{
    if (function >= functions::FunctionId::count)
        return false;
    const functions::CollectiveShape shape = rules::operation(function).shape;
    return shape == functions::CollectiveShape::OneToAll || shape == functions::CollectiveShape::AllToOne;
}

}  // namespace

std::vector<rules::MemberInfo> member_came_back(const Replay& replay, const Part& part, const Period& period,
                                                ProgressCalls::Posts posts)
{
    const model::ProcessTrace& trace = replay.processes[part.process];
    const model::CollectiveCall collective = trace.collectives[part.collective];
    const model::CallRef post = collective.begin();
    const model::CallRef end = collective.call;
    if (collective.is_blocking() || !post.valid())
        return {};
    std::vector<rules::MemberInfo> result;
    if (is_rooted(function_of(replay.definitions, trace, collective)))
        result.push_back({{post, time_of(trace, post)}, Ns::min(), part.rank, false, true});
    if (!end.valid() || post.location != end.location || end.call.value - post.call.value > most_returns)
        return result;
    const model::LocationTrace& location = trace.locations[local_index(trace, post.location)];
    const model::Calls& calls = location.calls;
    const ProgressCalls looks(replay.definitions, trace, location.location);
    TimesOutside times(period, part.rank);
    for (std::uint32_t call = end.call.value; call > post.call.value;) {
        std::uint32_t before = call - 1;
        while (before > post.call.value && !looks.at(before, posts))
            --before;
        if (looks.at(call, posts) && calls.enter(call) <= period.until)
            times.add({{post.location, {call}}, calls.enter(call)}, calls.leave(before));
        call = before;
    }
    std::ranges::copy(times.returns(), std::back_inserter(result));
    return result;
}

std::vector<rules::MemberInfo> member_came_back_elsewhere(const Replay& replay, const Part& part, const Period& period,
                                                          ProgressCalls::Posts posts)
{
    const model::ProcessTrace& trace = replay.processes[part.process];
    const model::CallRef own = trace.collectives[part.collective].begin();
    const std::size_t own_location = local_index(trace, own.location);
    const model::Calls& calls = trace.locations[own_location].calls;
    // The last call of a location that was entered before a time; the number of calls if there is none among some.
    const auto last_before = [&](const model::LocationTrace& location, Ns time) {
        const std::size_t entered = model::last_entered(location.calls, time - Ns{1});
        const ProgressCalls looks(replay.definitions, trace, location.location);
        const std::size_t behind = entered < location.calls.size() ? looks.behind_last(entered + 1, posts) : 0;
        return behind > 0 ? behind - 1 : location.calls.size();
    };
    // Since when all threads of the process were outside.
    const auto outside_since = [&](Ns time) {
        Ns since = Ns::min();
        for (const model::LocationTrace& location : trace.locations)
            if (const std::size_t last = last_before(location, time); last < location.calls.size())
                since = std::max(since, location.calls.leave(last));
        return since;
    };
    TimesOutside times(period, part.rank);
    // Behind its own part it holds up nobody any more.
    Ns until = std::min(period.until + Ns{1}, calls.enter(own.call.value));
    for (std::uint32_t i = 0; i < most_returns && until > period.since; ++i) {
        const std::size_t call = last_before(trace.locations[own_location], until);
        if (call == calls.size() || calls.enter(call) <= period.since)
            break;
        until = calls.enter(call);
        times.add({{own.location, {static_cast<std::uint32_t>(call)}}, until}, outside_since(until));
    }
    return times.returns();
}

}  // namespace critpath::replayer

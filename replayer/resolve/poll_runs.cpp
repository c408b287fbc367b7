// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/resolve/poll_runs.hpp"

#include "replayer/pair/lookup.hpp"
#include "replayer/pair/polling.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

bool is_probe(functions::FunctionId function)
{
    const auto kind = functions::info(function).semantic_class;
    return kind == functions::SemanticClass::Iprobe || kind == functions::SemanticClass::Improbe;
}

/// A longer gap inside a loop of polls is taken for time without a processor where nobody recorded that, up to this
/// many times the polling before it: a program that polls in a loop does nothing else there.
constexpr std::int64_t longest_gap = 4;
/// The probe that meets a message may only move it on; it is found by the next one. Other polls find at once.
constexpr int gaps_of_probes = 2;
constexpr int few = 8;  // polls before a gap that tell what it is
/// Who polls and sleeps in turn does not want to find things much later than they come. For longer, a program sleeps
/// in the place of something that takes so long.
constexpr Ns longest_sleep = std::chrono::milliseconds{2};
/// Nor does it let time pass by computing for longer.
constexpr Ns longest_tick = std::chrono::milliseconds{1};

}  // namespace

PollRuns::PollRuns(const Replay& replay, const model::ProcessTrace& trace, const rules::CallCosts& costs)
    : replay_(replay), trace_(trace), costs_(costs)
{
    for (const model::LocationTrace& location : trace.locations)
        found_.emplace_back(location.calls.size(), false);
    const auto mark = [&](model::CallRef call) {
        if (call.valid())
            found_[local_index(trace, call.location)][call.call.value] = true;
    };
    for (const model::Send& send : trace.sends)
        mark(send.completion);
    for (const model::Receive& receive : trace.receives) {
        mark(receive.completion);
        mark(receive.matched);
    }
    for (const model::Probe& probe : trace.probes)
        mark(probe.call);
    for (const model::CollectiveCall& collective : trace.collectives)
        mark(collective.call);
    for (const model::WindowEvent& event : trace.window_events) {
        mark(event.completion);
        if (event.what == model::WindowEvent::What::Wait)
            mark(event.call);
    }
}

bool PollRuns::is_in_vain(std::size_t location, std::size_t call) const
{
    const model::Calls& calls = trace_.locations[location].calls;
    return !calls.is_point(call) && !found_[location][call] &&
           rules::operation(replay_.definitions.region(calls.context(call)).function).polls;
}

/// What the thread did between a poll in vain and the one behind it.
Activity PollRuns::between(const Thread& thread, std::size_t poll, std::size_t next) const
{
    const model::LocationTrace& trace = trace_.locations[thread.location];
    const Activity found = activity(trace, trace.calls.leave(poll), trace.calls.enter(next));
    return thread.is_help_work ? found : found.by_itself();
}

/// Whether the thread is blocked for as much behind the poll that found something as before it: then that is its work,
/// and no way to let time pass until it finds something.
bool PollRuns::works_on(std::size_t location, std::size_t poll) const
{
    const model::LocationTrace& trace = trace_.locations[location];
    const std::size_t behind = trace.calls.behind_last_call(poll);
    if (behind == 0 || !is_in_vain(location, behind - 1))
        return false;
    const Ns since = trace.calls.leave(behind - 1), until = trace.calls.enter(poll), found = trace.calls.leave(poll);
    if (until - since <= close_polls)
        return false;  // as mostly
    const Ns before = activity(trace, since, until).helped;
    return before > close_polls && 2 * activity(trace, found, found + 2 * (until - since)).helped >= before;
}

/// Whether so little is done between the polls before this one that it may be a way to let time pass, too.
bool PollRuns::may_wait(const Thread& thread, std::size_t poll) const
{
    const model::Calls& calls = trace_.locations[thread.location].calls;
    for (int polls = 1; polls < least_polls; ++polls) {
        const std::size_t behind = calls.behind_last_call(poll);
        if (behind == 0 || !is_in_vain(thread.location, behind - 1) ||
            between(thread, behind - 1, poll).worked() > longest_tick)
            return false;
        poll = behind - 1;
    }
    return true;
}

/// Whether nothing is done between a poll in vain and the one behind it, by what was recorded.
bool PollRuns::is_idle_between(const Thread& thread, std::size_t poll, std::size_t next) const
{
    return between(thread, poll, next).is_idle(close_polls) || is_disturbed_sleep(thread, poll, next);
}

/// Or so it seems: one of the last few polls may have been that of a loop.
bool PollRuns::seems_idle_between(const Thread& thread, std::size_t poll, std::size_t next) const
{
    const model::Calls& calls = trace_.locations[thread.location].calls;
    if (between(thread, poll, next).helped > close_polls)
        return false;
    for (int seen = 0; seen < few && is_in_vain(thread.location, poll); ++seen) {
        const Ns polling = calls.duration(poll);  // one record may stand for many polls
        if (polling >= least_polls * close_polls && calls.enter(next) - calls.leave(poll) <= longest_gap * polling)
            return true;
        const std::size_t behind = calls.behind_last_call(poll);
        if (behind == 0)
            return false;
        poll = behind - 1;
    }
    return false;
}

/// Of a loop that sleeps between its polls, an interrupt may make one of the gaps longer.
bool PollRuns::is_disturbed_sleep(const Thread& thread, std::size_t poll, std::size_t next) const
{
    const model::LocationTrace& trace = trace_.locations[thread.location];
    Activity sum = between(thread, poll, next);
    if (sum.worked() > 2 * sum.slept)
        return false;
    for (int seen = 0; seen < few; ++seen) {
        const std::size_t behind = trace.calls.behind_last_call(poll);
        if (behind == 0 || !is_in_vain(thread.location, behind - 1))
            break;
        sum.add(between(thread, behind - 1, poll));
        poll = behind - 1;
    }
    return sum.is_sleep();
}

/// What is known of the time between the polls that this one stands for.
Ns PollRuns::time_between(std::size_t location, std::size_t poll) const
{
    const auto& loose = trace_.locations[location].loose_polls;
    const auto found = std::ranges::lower_bound(loose, poll, {}, [](const auto& l) { return l.call.value; });
    return found != loose.end() && found->call.value == poll ? found->between : Ns{0};
}

/// Of the time from a poll in vain to the next one, what may as well be work: not what it had no processor for, or is
/// known to have slept.
Ns PollRuns::time_unknown(const Thread& thread, std::size_t poll, std::size_t next) const
{
    const model::LocationTrace& trace = trace_.locations[thread.location];
    const Ns begin = trace.calls.leave(poll), end = trace.calls.enter(next);
    if (end - begin <= Ns{functions::least_gap_of_polls})
        return Ns{0};
    const Activity found = between(thread, poll, next);
    return found.worked() + found.slept - short_sleeps(trace, begin, end, longest_sleep);
}

PollWait PollRuns::waiting(model::CallRef call) const
{
    const std::size_t l = local_index(trace_, call.location);
    const model::Calls& calls = trace_.locations[l].calls;
    const std::size_t last = call.call.value;
    const rules::CallCost cost = costs_.of(function_of(replay_.definitions, trace_, call), 0);
    const Ns poll = std::clamp(cost.least, Ns{1}, close_polls);
    const Thread thread{l, works_on(l, last)};
    std::size_t first = last;
    std::int64_t polls = 1;
    int to_find = is_probe(function_of(replay_.definitions, trace_, call)) ? gaps_of_probes : 1;
    Ns missed{0}, outside{0}, guessed{0};
    while (const std::size_t behind = calls.behind_last_call(first)) {  // a poll may stand between locks
        const std::size_t before = behind - 1;
        if (!is_in_vain(l, before))
            break;
        const Ns gap = calls.enter(first) - calls.leave(before);
        const bool tight = gap < std::max(close_polls, 2 * poll);
        const bool is_idle = !tight && is_idle_between(thread, before, first);
        if (!tight && !is_idle && !seems_idle_between(thread, before, first))
            break;
        guessed += tight || is_idle ? Ns{0} : gap;
        outside += time_between(l, before) + time_unknown(thread, before, first);
        if (to_find-- > 0)
            missed += gap;
        polls += std::max<std::int64_t>(1, calls.duration(before) / poll);
        first = before;
    }
    if (polls < least_polls)
        first = last;
    const Ns run_end = calls.leave(last);
    const Ns enter = calls.enter(first);
    const Ns excess = first == last ? Ns{0} : run_end - enter - poll;
    // Where most of it is time between the polls, they may stand in work: that they sleep there may be what they do.
    const Ns run = run_end - enter;
    const bool is_doubtful =
        first == last ? !thread.is_help_work && may_wait(thread, last) : 2 * outside >= run || 4 * guessed >= run;
    return {{call, enter, run_end, excess, cost.threshold}, is_doubtful, missed};
}

}  // namespace critpath::replayer

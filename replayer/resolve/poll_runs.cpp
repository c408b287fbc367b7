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

/// A longer gap inside a loop of polls is taken for time without a processor where nobody recorded that, up to this
/// many times the polling before it: a program that polls in a loop does nothing else there.
constexpr std::int64_t longest_gap = 4;

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

PollWait PollRuns::waiting(model::CallRef call) const
{
    const std::size_t l = local_index(trace_, call.location);
    const model::Calls& calls = trace_.locations[l].calls;
    const std::size_t last = call.call.value;
    const rules::CallCost cost = costs_.of(function_of(replay_.definitions, trace_, call), 0);
    const Ns poll = std::clamp(cost.least, Ns{1}, close_polls);
    std::size_t first = last;
    std::int64_t polls = 1;
    bool guessed = false;
    Ns missed{0};
    const Ns run_end = calls.leave(last);
    const auto polls_in_vain = [&](std::size_t i) {
        return !calls.is_point(i) && !found_[l][i] &&
               rules::operation(replay_.definitions.region(calls.context(i)).function).polls;
    };
    while (const std::size_t behind = calls.behind_last_call(first)) {  // a poll may stand between locks
        const std::size_t before = behind - 1;
        if (!polls_in_vain(before))
            break;
        const Ns gap = calls.enter(first) - calls.leave(before);
        const Ns polling = calls.leave(before) - calls.enter(before);  // one record may stand for many polls
        const bool is_run = polling >= least_polls * close_polls;
        const Ns busy = std::max(close_polls, 2 * poll);
        const bool tight = gap < busy;
        if (!tight && !(is_run && gap <= longest_gap * polling) &&
            !is_idle(trace_.locations[l], calls.leave(before), calls.enter(first), busy))
            break;
        guessed = guessed || !tight;
        if (first == last)
            missed = gap;
        polls += std::max<std::int64_t>(1, polling / poll);
        first = before;
    }
    if (polls < least_polls)
        first = last;
    const Ns enter = calls.enter(first);
    const Ns excess = first == last ? Ns{0} : run_end - enter - poll;
    return {{call, enter, run_end, excess, cost.threshold}, guessed && first != last, missed};
}

}  // namespace critpath::replayer

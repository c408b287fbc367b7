// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/resolve/resolve.hpp"

#include "replayer/exchange.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/resolve/alone.hpp"
#include "replayer/resolve/calls.hpp"
#include "replayer/resolve/guessed_waits.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

using model::SegmentKind;
using rules::Route;

/// Calls that no message and no member explains: long ones are delays, if the operation could have waited at all.
void assume_delays(const Replay& replay, const model::ProcessTrace& trace, const rules::CallCosts& costs,
                   ProcessAnswers& answers)
{
    if (replay.rules != Rules::Arrival)
        return;  // the other rule sets know no delays
    for (const model::LocationTrace& location : trace.locations) {
        const model::Calls& calls = location.calls;
        for (std::uint32_t i = 0; i < calls.size(); ++i) {
            if (calls.is_point(i))
                continue;
            const functions::FunctionId function = replay.definitions.region(calls.context(i)).function;
            const CallRef call{location.location, {i}};
            if (rules::operation(function).blocking && waiting(replay, trace, costs, call).waited())
                answers.set(call, {Route::Delay, {}, 0, true});
        }
    }
}

/// `resolve(p, late)` concludes what it can of process p, and adds to `late` what its partners have to say more about.
/// In rounds of some processes, so that few questions are in memory. Collective.
template <class Resolve>
void resolve_messages(const Replay& replay, const Members& members, std::vector<ProcessAnswers>& answers,
                      Resolve resolve)
{
    constexpr std::size_t window = 16384;  // questions in a round, and those of one process more
    std::size_t next = 0;
    do {
        LateCalls late;
        for (; next < replay.processes.size() && late.questions() < window; ++next)
            resolve(next, late);
        const auto found = late_progress(replay, members, late);
        for (std::size_t i = 0; i < found.size(); ++i)
            answers[late.calls[i].process].set_end(late.calls[i].call, found[i], late.calls[i].polls);
    } while (on_any(replay.comm, next < replay.processes.size()));
}

void resolve_threads(const Replay& replay, std::vector<ProcessAnswers>& answers)
{
    for (std::size_t p = 0; p < replay.processes.size(); ++p) {
        for (const model::ThreadWait& wait : replay.processes[p].thread_waits)
            answers[p].set(wait.waiter, {Route::Thread, enter_of(replay.processes[p], wait.cause)});
        if (replay.rules == Rules::Arrival)
            for (const GuessedWait& wait : guessed_waits(replay.definitions, replay.processes[p]))
                answers[p].set(wait.waiter,
                               {wait.waited_for.valid() ? Route::Thread : Route::Work, wait.waited_for, 0, true});
    }
}

std::uint64_t forward_jumps(const model::ProcessTrace& trace, const std::vector<LocationPredecessors>& locations,
                            const rules::ClockUncertainty& clocks)
{
    std::uint64_t count = 0;
    for (std::size_t l = 0; l < locations.size(); ++l)
        for (std::size_t i = 0; i < locations[l].jumps.size(); ++i) {
            const KnownJump jump = locations[l].jumps.known(i, trace.locations[l]);
            const bool leads_forward =
                jump.kind == SegmentKind::Collective && jump.to_enter > jump.leave &&
                jump.to_enter - jump.leave > clocks.between(jump.call.location, jump.to.location);
            count += leads_forward ? 1 : 0;
        }
    return count;
}

}  // namespace

std::vector<ProcessAnswers> first_answers(const Replay& replay, const rules::CallCosts& costs)
{
    std::vector<ProcessAnswers> answers;
    for (std::size_t p = 0; p < replay.processes.size(); ++p) {
        answers.emplace_back(replay, p);
        assume_delays(replay, replay.processes[p], costs, answers[p]);
    }
    return answers;
}

Predecessors resolve(const Replay& replay, Pairs& pairs, const std::vector<ProcessWindows>& windows,
                     const Collectives& collectives, const rules::Calibration& calibration,
                     std::vector<ProcessAnswers> answers, const std::function<void()>& forget)
{
    {
        const auto completed = completed_collectives(replay, collectives, calibration);
        resolve_messages(replay, collectives.members, answers, [&](std::size_t p, LateCalls& late) {
            resolve_completions(replay, p, {pairs.processes[p], windows[p], completed[p]}, calibration, answers[p],
                                late);
            pairs.processes[p] = {MatchedSends(), {}};
        });
    }
    resolve_collectives(replay, collectives, windows, calibration, answers);
    resolve_threads(replay, answers);

    Predecessors result;
    result.alone = calls_alone(replay);
    result.clock_violations = collectives.left_too_early;
    for (std::size_t link = 0; link < rules::links; ++link)
        result.transfer[link] = {calibration.transfer[link], calibration.one_sided[link]};
    forget();
    for (std::size_t p = 0; p < answers.size(); ++p) {
        result.processes.push_back(answers[p].finish());
        result.clock_violations += forward_jumps(replay.processes[p], result.processes.back(), calibration.clocks);
    }
    MPI_Allreduce(MPI_IN_PLACE, &result.clock_violations, 1, MPI_UINT64_T, MPI_SUM, replay.comm);
    return result;
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/onesided/onesided.hpp"

#include "replayer/onesided/looks.hpp"
#include "replayer/onesided/own_transfers.hpp"
#include "replayer/onesided/phase.hpp"
#include "replayer/pair/call_costs.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace critpath::replayer
{

namespace
{

/// What the calls of one process teach, once it is known what they may have waited for.
void learn(const Replay& replay, const model::ProcessTrace& trace, const ProcessWindows& windows,
           const rules::CallCosts& costs, ExamplesByLink& examples, LongTransfers& long_ones)
{
    std::vector<CallRef> moved_on;  // by the target, which had come back to MPI
    for (const TargetProgress& progress : windows.progress)
        if (progress.target && progress.target->valid())
            moved_on.push_back(progress.call);
    std::ranges::sort(moved_on);
    for (const auto& [call, message] : windows.dependencies) {
        const bool both = message.protocol == rules::Protocol::Rendezvous;
        const Ns start = both ? std::max(message.own.time, message.remote.time) : message.remote.time;
        const rules::Waiting waits = waiting(replay, trace, costs, call);
        const bool is_ender = !may_end_by_others(function_of(replay.definitions, trace, call));
        const Ns elapsed = waits.leave - start, waited = TransferExamples::waited_for(waits, is_ender);
        // Of the process itself, so that nobody else has to begin it.
        const bool is_own = message.target.valid() && message.own.call == message.remote.call;
        if (!is_own || !TransferExamples::is_evidence(elapsed, waited) ||
            !LongTransfers::is_one(waits.leave - waits.enter, message.bytes))
            examples[static_cast<std::size_t>(message.link)].add(elapsed, waited, message.bytes);
        else if (std::ranges::binary_search(moved_on, call))
            long_ones.add_moved_on(message.link);
        else
            long_ones.add_other(message.link, elapsed, waited, message.bytes);
    }
}

/// Equal on all processes.
void agree(const Replay& replay, const ExamplesByLink& examples, rules::Calibration& calibration)
{
    for (std::size_t link = 0; link < rules::links; ++link)
        calibration.one_sided[link] = examples[link].agree(replay.comm);
}

}  // namespace

ExamplesByLink learn_one_sided(const Replay& replay, rules::Calibration& calibration)
{
    if (replay.definitions.windows.empty())
        return {};
    const ExamplesByLink examples = own_transfers(replay, calibration.calls);
    agree(replay, examples, calibration);
    return examples;
}

std::vector<ProcessWindows> one_sided(const Replay& replay, rules::Calibration& calibration, ExamplesByLink examples)
{
    std::vector<ProcessWindows> result(replay.processes.size());
    if (replay.definitions.windows.empty())
        return result;
    std::vector<WindowProcess> processes;
    processes.reserve(result.size());
    for (std::size_t p = 0; p < result.size(); ++p)
        processes.emplace_back(replay, p, calibration, result[p]);
    for (WindowProcess& process : processes)
        match_fences(process, fences_of(replay.definitions, process.trace));
    match_active(replay, processes);
    std::vector<Looks> looks;
    for (WindowProcess& process : processes)
        looks.emplace_back(process, replay.rules);
    match_passive(replay, calibration, processes, looks);
    match_looking(replay, processes, looks);
    LongTransfers long_ones;
    for (std::size_t p = 0; p < result.size(); ++p)
        learn(replay, replay.processes[p], result[p], calibration.calls, examples, long_ones);
    long_ones.teach(replay.comm, examples);
    agree(replay, examples, calibration);
    for (ProcessWindows& process : result) {
        std::ranges::stable_sort(process.dependencies, {}, &WindowDependency::call);
        std::ranges::stable_sort(process.progress, {}, &TargetProgress::call);
        std::ranges::stable_sort(process.found, {}, &FoundInWindow::call);
        std::ranges::stable_sort(process.fenced, {}, &TransferBeforeFence::fence);
        std::ranges::stable_sort(process.opened, {}, &OpenedEpoch::fence);
        std::ranges::sort(process.unsure);
    }
    return result;
}

}  // namespace critpath::replayer

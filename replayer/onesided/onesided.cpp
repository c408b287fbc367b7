// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/onesided/onesided.hpp"

#include "replayer/onesided/own_transfers.hpp"
#include "replayer/onesided/phase.hpp"
#include "replayer/pair/call_costs.hpp"

#include <algorithm>

namespace critpath::replayer
{

namespace
{

/// A transfer of the own process that nobody else has to begin: what it takes own_transfers() has learned already, and
/// when its target held it up.
bool is_learned(const rules::Message& message)
{
    return message.target.valid() && message.own.call == message.remote.call;
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
    match_passive(replay, calibration, processes);
    if (replay.rules == Rules::Arrival)
        match_looking(replay, processes);  // the other rule sets take it for work
    for (std::size_t p = 0; p < result.size(); ++p) {
        const model::ProcessTrace& trace = replay.processes[p];
        for (const auto& [call, message] : result[p].dependencies) {
            if (is_learned(message))
                continue;
            const bool both = message.protocol == rules::Protocol::Rendezvous;
            const Ns start = both ? std::max(message.own.time, message.remote.time) : message.remote.time;
            examples[static_cast<std::size_t>(message.link)].add(
                start, waiting(replay, trace, calibration.calls, call),
                !may_end_by_others(function_of(replay.definitions, trace, call)), message.bytes);
        }
    }
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

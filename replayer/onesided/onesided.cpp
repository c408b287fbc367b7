// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/onesided/onesided.hpp"

#include "replayer/onesided/phase.hpp"
#include "replayer/pair/call_costs.hpp"
#include "replayer/pair/transfer_times.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace critpath::replayer
{

namespace
{

using model::WindowEvent;
using Examples = std::array<TransferExamples, rules::links>;

/// From each transfer to the end of the call that completed it.
void add_transfers(const model::ProcessTrace& trace, const Replay& replay, const rules::CallCosts& costs,
                   Examples& examples)
{
    Peers peers(replay.definitions, trace.process);
    using Target = std::pair<model::WindowId, std::int32_t>;
    std::map<Target, std::vector<const WindowEvent*>> under_way;
    for (const WindowEvent& event : trace.window_events) {
        if (event.what == WindowEvent::What::Transfer) {
            under_way[{event.window, event.target}].push_back(&event);
            continue;
        }
        if (event.what != WindowEvent::What::Complete && event.what != WindowEvent::What::Unlock &&
            event.what != WindowEvent::What::Flush)
            continue;
        const auto begin = under_way.lower_bound({event.window, std::max(event.target, 0)});
        const auto end = under_way.upper_bound({event.window, event.target < 0 ? INT32_MAX : event.target});
        for (auto to = begin; to != end; ++to)
            for (const WindowEvent* transfer : to->second)
                if (const auto target =
                        peers.at(replay.definitions.windows[event.window.value].comm, transfer->target)) {
                    const rules::Link link = link_between(replay.definitions, trace.process, *target);
                    const rules::Waiting first = waiting(replay, trace, costs, transfer->call);
                    const rules::Waiting last = waiting(replay, trace, costs, event.call);
                    const Ns inside = first.leave - first.enter + (last.leave - last.enter);  // it may copy in either
                    examples[static_cast<std::size_t>(link)].add(last.leave - first.enter, inside, transfer->bytes);
                }
        under_way.erase(begin, end);
    }
}

/// Whether the call may have waited for something else than a transfer between windows.
bool may_end_by_others(functions::FunctionId function)
{
    using enum functions::SemanticClass;
    const auto semantic_class = functions::semantic_class(function);
    return semantic_class >= Waitall && semantic_class <= Testsome;
}

/// Equal on all processes.
void agree(const Replay& replay, const Examples& examples, rules::Calibration& calibration)
{
    for (std::size_t link = 0; link < rules::links; ++link)
        calibration.one_sided[link] = examples[link].agree(replay.comm);
}

}  // namespace

void learn_one_sided(const Replay& replay, rules::Calibration& calibration)
{
    if (replay.definitions.windows.empty())
        return;
    Examples examples;
    for (const model::ProcessTrace& trace : replay.processes)
        add_transfers(trace, replay, calibration.calls, examples);
    agree(replay, examples, calibration);
}

std::vector<ProcessWindows> one_sided(const Replay& replay, rules::Calibration& calibration)
{
    std::vector<ProcessWindows> result(replay.processes.size());
    if (replay.definitions.windows.empty())
        return result;
    std::vector<WindowProcess> processes;
    processes.reserve(result.size());
    for (std::size_t p = 0; p < result.size(); ++p)
        processes.emplace_back(replay, p, calibration, result[p]);
    match_active(replay, processes);
    match_passive(replay, calibration, processes);
    if (replay.rules == Rules::Arrival)
        match_looking(replay, processes);  // the other rule sets take it for work
    Examples examples;
    for (std::size_t p = 0; p < result.size(); ++p) {
        const model::ProcessTrace& trace = replay.processes[p];
        add_transfers(trace, replay, calibration.calls, examples);
        for (const auto& [call, message] : result[p].dependencies) {
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
    }
    return result;
}

}  // namespace critpath::replayer

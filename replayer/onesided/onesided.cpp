// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/onesided/onesided.hpp"

#include "replayer/onesided/own_transfers.hpp"
#include "replayer/onesided/phase.hpp"
#include "replayer/pair/call_costs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

/// What is to be learned of calls, once it is known what they may have waited for.
class Lessons
{
public:
    Lessons(const Replay& replay, const rules::CallCosts& costs, ExamplesByLink& examples)
        : replay_(replay), costs_(costs), examples_(examples)
    {
    }

    void add(const model::ProcessTrace& trace, const ProcessWindows& windows)
    {
        std::vector<CallRef> moved_on;  // by the target, which had come back to MPI
        for (const TargetProgress& progress : windows.progress)
            if (progress.target && progress.target->valid())
                moved_on.push_back(progress.call);
        std::ranges::sort(moved_on);
        for (const auto& [call, message] : windows.dependencies) {
            const rules::Waiting waits = waiting(replay_, trace, costs_, call);
            const bool is_ender = !may_end_by_others(function_of(replay_.definitions, trace, call));
            const auto link = static_cast<std::size_t>(message.link);
            const Example example{waits.leave - start(message), TransferExamples::waited_for(waits, is_ender),
                                  message.bytes};
            if (!is_own(message) || !TransferExamples::is_evidence(example.elapsed, example.waited) ||
                waits.leave - waits.enter <= 2 * rules::usual_transfer(message.bytes))
                examples_[link].add(example.elapsed, example.waited, example.bytes);
            else if (std::ranges::binary_search(moved_on, call))
                ++numbers_[link].moved_on;
            else
                others_.emplace_back(link, example);
        }
    }

    /// Where the targets moved on a quarter of the transfers that may have stood still, the others did, too, though it
    /// cannot be seen: a target hardly comes back that often by chance when one is over. Collective.
    void conclude()
    {
        for (const auto& [link, example] : others_)
            ++numbers_[link].others;
        MPI_Allreduce(MPI_IN_PLACE, numbers_.data(), static_cast<int>(2 * numbers_.size()), MPI_INT64_T, MPI_SUM,
                      replay_.comm);
        for (const auto& [link, example] : others_)
            if (numbers_[link].others > 3 * numbers_[link].moved_on)
                examples_[link].add(example.elapsed, example.waited, example.bytes);
    }

private:
    struct Example {
        Ns elapsed, waited;
        std::uint64_t bytes;
    };
    struct Numbers {
        std::int64_t moved_on = 0, others = 0;
    };

    static Ns start(const rules::Message& message)
    {
        const bool both = message.protocol == rules::Protocol::Rendezvous;
        return both ? std::max(message.own.time, message.remote.time) : message.remote.time;
    }
    /// A transfer of the process itself that nobody else has to begin.
    static bool is_own(const rules::Message& message)
    {
        return message.target.valid() && message.own.call == message.remote.call;
    }

    const Replay& replay_;
    const rules::CallCosts& costs_;
    ExamplesByLink& examples_;
    std::array<Numbers, rules::links> numbers_{};
    std::vector<std::pair<std::size_t, Example>> others_;
};

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
    Lessons lessons(replay, calibration.calls, examples);
    for (std::size_t p = 0; p < result.size(); ++p)
        lessons.add(replay.processes[p], result[p]);
    lessons.conclude();
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

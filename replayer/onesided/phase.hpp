// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the two halves of the phase "one-sided" share: the own processes' events and epochs, and what comes out.
#pragma once

#include "replayer/onesided/epochs.hpp"
#include "replayer/onesided/fences.hpp"
#include "replayer/onesided/onesided.hpp"
#include "replayer/pair/call_costs.hpp"
#include "replayer/pair/channels.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <cstddef>

namespace critpath::replayer
{

inline constexpr std::uint32_t all_targets = UINT32_MAX;

/// Whether it would be decided otherwise if times of another clock were off by `error`, either way. `decide(shift)`:
/// with those times moved by so much.
template <class Decide>
bool depends_on_clocks(Ns error, Decide decide)
{
    if (error == Ns{0})
        return false;
    const auto decided = decide(Ns{0});
    return decide(-error) != decided || decide(error) != decided;
}

/// One owned process.
class WindowProcess
{
public:
    WindowProcess(const Replay& replay, std::size_t process, const rules::Calibration& calibration,
                  ProcessWindows& result)
        : trace(replay.processes[process]), epochs(trace.window_events), replay_(replay), calibration_(calibration),
          peers_(replay.definitions, trace.process), result_(result)
    {
    }

    [[nodiscard]] const model::WindowEvent& event(std::uint32_t index) const { return trace.window_events[index]; }
    [[nodiscard]] rules::Enter enter(std::uint32_t index) const { return enter_of(trace, event(index).call); }
    [[nodiscard]] Ns leave(std::uint32_t index) const { return leave_of(trace, event(index).call); }

    /// Whether somebody may have to explain the call: if not, nobody has to be asked.
    [[nodiscard]] bool may_have_waited(CallRef call) const
    {
        return replay_.rules == Rules::Enter || rules::operation(function(call)).polls || waiting(call).waited();
    }
    [[nodiscard]] functions::FunctionId function(CallRef call) const
    {
        return function_of(replay_.definitions, trace, call);
    }
    [[nodiscard]] rules::Waiting waiting(CallRef call) const
    {
        return replayer::waiting(replay_, trace, calibration_.calls, call);
    }

    /// The process with that rank in a window.
    std::optional<ProcessId> target(model::WindowId window, std::int32_t rank)
    {
        return peers_.at(replay_.definitions.windows[window.value].comm, rank);
    }
    /// Where meets what concerns all targets of a window: at one of its members, a different one for each window.
    [[nodiscard]] ProcessId place_of_all(model::WindowId window) const
    {
        const model::Definitions& definitions = replay_.definitions;
        const model::Communicator& comm = definitions.communicators[definitions.windows[window.value].comm.value];
        return comm.is_self || comm.members.empty() ? trace.process : comm.members[window.value % comm.members.size()];
    }
    [[nodiscard]] rules::Link link(ProcessId other) const
    {
        return link_between(replay_.definitions, trace.process, other);
    }
    [[nodiscard]] Ns transfer_time(rules::Link by, std::uint64_t bytes) const
    {
        return calibration_.one_sided[static_cast<std::size_t>(by)].of(bytes);
    }
    [[nodiscard]] Ns transfer_time(ProcessId other, std::uint64_t bytes) const
    {
        return transfer_time(link(other), bytes);
    }

    /// Whether a message that was sent then would have reached the call well before its end, even if messages take
    /// twice as long as is known.
    [[nodiscard]] bool is_too_early(CallRef call, Ns sent, ProcessId from) const
    {
        const rules::Waiting waited = waiting(call);
        return waited.leave - sent > 2 * transfer_time(from, 0) + waited.threshold;
    }

    /// By how much the time may be off that passed between something of this process and something of the other one.
    [[nodiscard]] Ns error(ProcessId other) const { return replay_.definitions.uncertainty(trace.process, other); }
    [[nodiscard]] Ns error_between(ProcessId one, ProcessId other) const
    {
        return replay_.definitions.uncertainty(one, other);
    }
    /// Whether it was before the call ended, as far as clocks can tell.
    [[nodiscard]] bool came_before_end(const rules::Enter& remote, CallRef call) const
    {
        const ProcessId from = replay_.definitions.locations[remote.call.location.value].process;
        return remote.time - error(from) < leave_of(trace, call);
    }

    /// Within the error of the clocks, the call may have waited for another epoch than the one that is known, or for
    /// one at all.
    void doubt(CallRef call) { result_.unsure.push_back(call); }

    /// Whether a transfer that takes so long, and began at `start`, may still be under way when the call begins that
    /// completes it: if not, nobody waits for it any more, however long the call takes.
    [[nodiscard]] bool may_be_under_way(Ns start, Ns transfer, CallRef completing) const
    {
        const rules::Waiting waits = waiting(completing);
        return waits.enter - start <= rules::longest(transfer) + waits.threshold;
    }

    /// Whether it explains when the call ended that waited for it.
    [[nodiscard]] bool explains(Ns start, Ns transfer, CallRef waits) const
    {
        const rules::Waiting waited = waiting(waits);
        return waited.leave - start <= rules::longest(transfer) + waited.threshold;
    }

    /// What happened elsewhere, and reaches the call one message later. What came after the call had ended released
    /// nobody: then the epochs do not belong together (some were not recorded).
    void depend(CallRef call, const rules::Enter& remote, std::uint64_t bytes, rules::Link link_of_it, Ns late = {})
    {
        if (!came_before_end(remote, call))
            return;
        rules::Message message{true, enter_of(trace, call), remote, bytes, rules::Protocol::Eager, link_of_it, false,
                               true};
        message.late = late;
        result_.dependencies.push_back({call, message});
    }

    /// By how much the call at `released` was late with it, which lasted until `leave`, where the call that waited for
    /// it ended too late for its enter: no core was free, say. What it releases, it may do at any time until its end.
    [[nodiscard]] Ns lateness(CallRef waits, const rules::Enter& released, Ns leave, ProcessId by) const
    {
        const bool is_behind = waiting(waits).leave + transfer_time(by, 0) >= leave;
        return is_behind && is_too_early(waits, released.time, by) ? leave - released.time : Ns{};
    }

    /// A transfer, which begins when `own` and `remote` are both there; to `other`, if it `puts`.
    void depend_on_transfer(CallRef call, const rules::Enter& own, const rules::Enter& remote, std::uint64_t bytes,
                            ProcessId other, bool puts)
    {
        const rules::Enter& start = remote.valid() && came_before_end(remote, call) ? remote : own;
        if (own.time < leave_of(trace, call))
            result_.dependencies.push_back({call,
                                            {true, own, start, bytes, rules::Protocol::Rendezvous, link(other), false,
                                             true, false, first_location(other), puts}});
    }

    /// What a loop looked for was put there by that call.
    void found(CallRef end, Ns since, const rules::Enter& write, std::uint64_t bytes, ProcessId origin,
               bool within_clocks)
    {
        result_.found.push_back(
            {end,
             since,
             {true, enter_of(trace, end), write, bytes, rules::Protocol::Eager, link(origin), false, true},
             within_clocks});
    }

    /// When a transfer that nothing held up is there; never, if its target is not known.
    [[nodiscard]] Ns arrival(std::uint32_t transfer)
    {
        const auto to = target(event(transfer).window, event(transfer).target);
        return to ? enter(transfer).time + transfer_time(*to, event(transfer).bytes) : Ns::min();
    }

    /// The fence ends an epoch that began with `opening`, which may have passed before others had come.
    void opened(CallRef fence, CallRef opening) { result_.opened.push_back({fence, enter_of(trace, opening)}); }

    /// A transfer that the fence ends. What cannot be under way any more when that begins is of no interest, unless its
    /// target may have let it begin later.
    void fenced(CallRef fence, std::uint32_t transfer, bool may_begin_later)
    {
        const model::WindowEvent& event = trace.window_events[transfer];
        const auto to = target(event.window, event.target);
        if (!to)
            return;
        const Ns takes = transfer_time(*to, event.bytes);
        if (may_begin_later || may_be_under_way(enter(transfer).time, takes, fence))
            result_.fenced.push_back({fence,
                                      {enter(transfer), takes, event.bytes, trace.process, *to, event.call.location,
                                       first_location(*to), event.writes()}});
    }

    [[nodiscard]] std::size_t number_fenced() const { return result_.fenced.size(); }
    /// Of those behind the first `number`, all of one fence, leaves the ones that may explain its end whatever the
    /// others do.
    void forget_dominated(std::size_t number)
    {
        const auto first = result_.fenced.begin() + static_cast<std::ptrdiff_t>(number);
        const std::vector<TransferBeforeFence> all(first, result_.fenced.end());
        result_.fenced.erase(first, result_.fenced.end());
        for (const TransferBeforeFence& one : all)
            if (std::ranges::none_of(all, [&](const TransferBeforeFence& other) {
                    return rules::is_dominated(one.transfer, other.transfer);
                }))
                result_.fenced.push_back(one);
    }

    void add_progress(const TargetProgress& progress) { result_.progress.push_back(progress); }

    const model::ProcessTrace& trace;
    const Epochs epochs;

private:
    [[nodiscard]] LocationId first_location(ProcessId process) const
    {
        const auto& locations = replay_.definitions.processes[process.value].locations;
        return locations.empty() ? LocationId::none() : locations.front();
    }

    const Replay& replay_;
    const rules::Calibration& calibration_;
    Peers peers_;
    ProcessWindows& result_;
};

class Looks;

/// Fences.
void match_fences(WindowProcess& process, const std::vector<Fence>& fences);
/// Post, start, complete, wait. Collective.
void match_active(const Replay& replay, std::vector<WindowProcess>& processes);
/// Loops that look for what others put into a window; `looks` by process. Collective.
void match_looking(const Replay& replay, std::vector<WindowProcess>& processes, const std::vector<Looks>& looks);
/// Locks, flushes, and requests; `looks` by process. Collective.
void match_passive(const Replay& replay, const rules::Calibration& calibration, std::vector<WindowProcess>& processes,
                   const std::vector<Looks>& looks);

}  // namespace critpath::replayer

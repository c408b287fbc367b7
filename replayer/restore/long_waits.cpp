// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/long_waits.hpp"

#include "replayer/order.hpp"
#include "replayer/pair/channels.hpp"
#include "replayer/pair/lack.hpp"
#include "replayer/pair/lookup.hpp"
#include "replayer/pair/send_ends.hpp"
#include "replayer/restore/cut.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

using model::SegmentKind;

constexpr Ns surely_short = std::chrono::microseconds{20};

class WaitFinder
{
public:
    WaitFinder(const Replay& replay, const Predecessors& predecessors, const Path& path)
        : replay_(replay), predecessors_(predecessors), path_(path), cutter_(replay, predecessors, path)
    {
    }

    std::vector<LongWait> find()
    {
        for (std::size_t i = 0; i < path_.pieces.size(); ++i) {
            add_lead(i);
            add_calls(i);
        }
        const std::vector<std::vector<OfCall>> by_call = waits_by_call();
        for (std::size_t p = 0; p < by_call.size(); ++p)
            if (!by_call[p].empty())
                add_partners(replay_.processes[p], by_call[p]);
        std::erase_if(waits_, [](const LongWait& wait) { return !is_long(wait); });
        for (LongWait& wait : waits_)
            finish(wait);
        return std::move(waits_);
    }

private:
    [[nodiscard]] ProcessId process_of(LocationId location) const
    {
        return replay_.definitions.locations[location.value].process;
    }
    void add_lead(std::size_t index)
    {
        const Piece& piece = path_.pieces[index];
        if (!piece.jumps() || Ns{piece.stretch - piece.begin} <= surely_short)
            return;
        const KnownJump jump = cutter_.jump_of(piece);
        LongWait wait{index, LongWait::lead, Ns{piece.begin}, Ns{piece.stretch}, {}, {}, {}, {}};
        const ProcessId own = process_of({piece.location});
        ProcessId other = process_of(jump.to.location);
        if (jump.kind == SegmentKind::Collective) {
            wait.last = jump.to;
        } else if (jump.kind == SegmentKind::Transfer) {
            if (other == own && jump.peer.valid())
                other = process_of(jump.peer);
            if (other == own)
                return;
            wait.partners.push_back(other);
        } else {
            return;
        }
        wait.transfer = predecessors_.transfer_time(link_between(replay_.definitions, own, other), jump.bytes);
        waits_.push_back(std::move(wait));
    }

    void add_calls(std::size_t index)
    {
        const Piece& piece = path_.pieces[index];
        const model::Calls& calls = replay_.trace_of(LocationId{piece.location}).calls;
        const Ns begin{piece.stretch}, end{piece.end};
        for (std::size_t i = piece.first_call; i < std::min<std::size_t>(piece.end_call, calls.size()); ++i) {
            const Ns enter = calls.enter(i);
            if (enter >= end)
                break;
            if (calls.is_point(i) || calls.duration(i) <= surely_short)
                continue;
            const auto call = static_cast<std::uint32_t>(i);
            LongWait wait{index, call, std::max(begin, enter), std::min(end, calls.leave(i)), {}, {}, {}, {}};
            const functions::FunctionId function = replay_.definitions.region(calls.context(i)).function;
            if (rules::operation(function).dependence == rules::Dependence::Members)
                wait.last = {{piece.location}, {call}};
            waits_.push_back(std::move(wait));
        }
    }

    /// A wait in a call, which may be in several pieces.
    struct OfCall {
        std::uint32_t number;  // of the call in the process
        std::size_t wait;
    };

    /// By index into Replay::processes, of the waits in calls that are no collectives, in the order of the calls.
    [[nodiscard]] std::vector<std::vector<OfCall>> waits_by_call() const
    {
        std::vector<std::vector<OfCall>> result(replay_.processes.size());
        for (std::size_t i = 0; i < waits_.size(); ++i) {
            const LongWait& wait = waits_[i];
            if (wait.call == LongWait::lead || wait.last.valid())
                continue;
            const LocationId location{path_.pieces[wait.piece].location};
            const std::size_t p = replay_.index_of(process_of(location));
            result[p].push_back({replay_.processes[p].numbers.of({location, {wait.call}}), i});
        }
        for (std::vector<OfCall>& of_process : result)
            sort_runs(of_process, [](const OfCall& wait) { return wait.number; });
        return result;
    }

    /// Of the messages that the calls of a process have completed.
    void add_partners(const model::ProcessTrace& trace, const std::vector<OfCall>& by_call)
    {
        Peers peers(replay_.definitions, trace.process);
        std::size_t first = 0;  // of the waits in the call asked for last: messages mostly end in the order of calls
        const auto has_wait = [&](std::uint32_t call) {
            first = count_first(
                by_call.size(), [&](std::size_t i) { return by_call[i].number < call; }, first);
            return first < by_call.size() && by_call[first].number == call;
        };
        const auto add = [&](model::CommId comm, std::int32_t rank, std::uint64_t bytes) {
            const auto peer = comm.valid() ? peers.at(comm, rank) : std::nullopt;
            if (!peer || *peer == trace.process)
                return;
            const Ns transfer =
                predecessors_.transfer_time(link_between(replay_.definitions, trace.process, *peer), bytes);
            for (std::size_t i = first; i < by_call.size() && by_call[i].number == by_call[first].number; ++i) {
                LongWait& wait = waits_[by_call[i].wait];
                wait.partners.push_back(*peer);
                wait.transfer = std::max(wait.transfer, transfer);
            }
        };
        const SendEnds ends(replay_.definitions, trace);
        for (std::size_t i = 0; i < trace.sends.size(); ++i)
            if (has_wait(ends.number(i))) {
                const model::Send send = trace.sends[i];
                add(send.comm, send.dest, send.bytes);
            }
        for (std::size_t i = 0; i < trace.receives.size(); ++i)
            if (has_wait(trace.receives.completion(i))) {
                const model::Receive receive = trace.receives[i];
                add(receive.comm, receive.source, receive.bytes);
            }
    }

    [[nodiscard]] static bool is_long(const LongWait& wait)
    {
        const bool is_for_others = wait.last.valid() || !wait.partners.empty();
        return is_for_others && wait.end - wait.begin > wait.transfer + wait.moment();
    }

    void finish(LongWait& wait) const
    {
        const model::LocationTrace& trace = replay_.trace_of(LocationId{path_.pieces[wait.piece].location});
        wait.until = lacks_processor_since(trace, wait.begin, wait.end, wait.transfer);
        std::ranges::sort(wait.partners);
        wait.partners.erase(std::unique(wait.partners.begin(), wait.partners.end()), wait.partners.end());
    }

    const Replay& replay_;
    const Predecessors& predecessors_;
    const Path& path_;
    PathCutter cutter_;
    std::vector<LongWait> waits_;
};

}  // namespace

std::vector<LongWait> find_long_waits(const Replay& replay, const Predecessors& predecessors, const Path& path)
{
    return WaitFinder(replay, predecessors, path).find();
}

}  // namespace critpath::replayer

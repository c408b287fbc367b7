// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/onesided/own_transfers.hpp"

#include "replayer/exchange.hpp"
#include "replayer/onesided/came_back.hpp"
#include "replayer/onesided/fences.hpp"
#include "replayer/pair/call_costs.hpp"
#include "replayer/pair/channels.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace critpath::replayer
{

namespace
{

using model::ProcessId;
using model::WindowEvent;

/// From a transfer to the end of the call that completed it.
struct OwnTransfer {
    rules::Link link;
    ProcessId target;
    std::uint64_t bytes;
    Ns elapsed, inside;  // of that, in the two calls: it may copy in either
    Ns enter, leave;     // of the longer one
};

OwnTransfer own_transfer(const Replay& replay, const model::ProcessTrace& trace, const rules::CallCosts& costs,
                         ProcessId target, const WindowEvent& transfer, model::CallRef completion)
{
    const rules::Waiting first = waiting(replay, trace, costs, transfer.call);
    const rules::Waiting last = waiting(replay, trace, costs, completion);
    const Ns in_first = first.leave - first.enter, in_last = last.leave - last.enter;
    const rules::Waiting& longer = in_first > in_last ? first : last;
    return {link_between(replay.definitions, trace.process, target),
            target,
            transfer.bytes,
            last.leave - first.enter,
            in_first + in_last,
            longer.enter,
            longer.leave};
}

/// Whether what it took is to be learned from only if its target did not hold it up.
bool may_have_stood_still(const OwnTransfer& own)
{
    const bool is_large = own.bytes >= rules::large_message;
    const Ns suspicious = is_large ? 4 * rules::fastest_copy(own.bytes) : 2 * rules::usual_transfer(own.bytes);
    return TransferExamples::is_evidence(own.elapsed, own.inside) && own.leave - own.enter > suspicious;
}

/// Of those that may have stood still, the fastest ones of each link and size; all others are in `examples`.
std::vector<OwnTransfer> waited_transfers(const model::ProcessTrace& trace, const Replay& replay,
                                          const rules::CallCosts& costs, ExamplesByLink& examples)
{
    constexpr std::size_t most_asked = 4;  // a target comes back by chance now and then, but hardly each time
    Peers peers(replay.definitions, trace.process);
    std::map<std::pair<rules::Link, int>, std::vector<OwnTransfer>> fastest;
    // In epochs that the target opens, its post is what transfers wait for, and not what it does later.
    const auto add = [&](const WindowEvent& transfer, model::CallRef completion, bool target_opens) {
        const auto target = peers.at(replay.definitions.windows[transfer.window.value].comm, transfer.target);
        if (!target)
            return;
        const OwnTransfer own = own_transfer(replay, trace, costs, *target, transfer, completion);
        const bool by_others = may_end_by_others(function_of(replay.definitions, trace, completion));
        if (by_others || target_opens || !may_have_stood_still(own)) {
            examples[static_cast<std::size_t>(own.link)].add(own.elapsed, by_others ? Ns{0} : own.inside, own.bytes);
            return;
        }
        const auto time = [](const OwnTransfer& t) { return std::tuple(t.elapsed, t.bytes); };
        std::vector<OwnTransfer>& some = fastest[{own.link, rules::size_bucket(own.bytes)}];
        some.insert(std::ranges::upper_bound(some, time(own), {}, time), own);
        if (some.size() > most_asked)
            some.pop_back();
    };
    std::map<std::pair<model::WindowId, std::int32_t>, std::vector<const WindowEvent*>> under_way;  // by target
    const std::vector<Fence> fences = fences_of(replay.definitions, trace);
    auto fence = fences.begin();
    // Whoever is in a fence may wait for others, so that transfers took that long at most.
    const auto pass_fences = [&](Ns before) {
        for (; fence != fences.end() && fence->enter < before; ++fence) {
            const auto begin = under_way.lower_bound({fence->window, 0});
            const auto end = under_way.upper_bound({fence->window, INT32_MAX});
            for (auto to = begin; to != end; ++to)
                for (const WindowEvent* transfer : to->second)
                    if (const auto target =
                            peers.at(replay.definitions.windows[fence->window.value].comm, transfer->target))
                        examples[static_cast<std::size_t>(link_between(replay.definitions, trace.process, *target))]
                            .add(leave_of(trace, fence->call) - enter_of(trace, transfer->call).time, Ns{0},
                                 transfer->bytes);
            under_way.erase(begin, end);
        }
    };
    for (const WindowEvent& event : trace.window_events) {
        pass_fences(enter_of(trace, event.call).time);
        if (event.what == WindowEvent::What::Transfer) {
            under_way[{event.window, event.target}].push_back(&event);
            if (event.completion.valid())
                add(event, event.completion, false);
            continue;
        }
        if (event.what != WindowEvent::What::Complete && event.what != WindowEvent::What::Unlock &&
            event.what != WindowEvent::What::Flush)
            continue;
        const auto begin = under_way.lower_bound({event.window, std::max(event.target, 0)});
        const auto end = under_way.upper_bound({event.window, event.target < 0 ? INT32_MAX : event.target});
        for (auto to = begin; to != end; ++to)
            for (const WindowEvent* transfer : to->second)
                add(*transfer, event.call, event.what == WindowEvent::What::Complete);
        under_way.erase(begin, end);
    }
    pass_fences(Ns::max());
    std::vector<OwnTransfer> result;
    for (const auto& [key, some] : fastest)
        std::ranges::copy(some, std::back_inserter(result));
    return result;
}

struct ReturnQuestion {
    std::uint32_t index, target;
    Ns enter, leave;
};

struct ReturnAnswer {
    std::uint32_t index, has_come_back;
    Ns came_back;
};

}  // namespace

bool may_end_by_others(functions::FunctionId function)
{
    using enum functions::SemanticClass;
    const auto semantic_class = functions::semantic_class(function);
    return semantic_class >= Waitall && semantic_class <= Testsome;
}

void LongTransfers::teach(MPI_Comm comm, ExamplesByLink& examples)
{
    MPI_Allreduce(MPI_IN_PLACE, numbers_.data(), static_cast<int>(2 * numbers_.size()), MPI_INT64_T, MPI_SUM, comm);
    for (const Other& other : others_) {
        const auto link = static_cast<std::size_t>(other.link);
        const std::int64_t moved_on = numbers_[link].moved_on;
        if (moved_on < least_moved_on || numbers_[link].others > 3 * moved_on)
            examples[link].add(other.elapsed, other.waited, other.bytes);
    }
}

ExamplesByLink own_transfers(const Replay& replay, const rules::CallCosts& costs)
{
    ExamplesByLink examples;
    std::vector<OwnTransfer> waited;
    for (const model::ProcessTrace& trace : replay.processes)
        std::ranges::copy(waited_transfers(trace, replay, costs, examples), std::back_inserter(waited));
    auto out = lists_for<ReturnQuestion>(replay.size);
    for (std::uint32_t i = 0; i < waited.size(); ++i)
        out[static_cast<std::size_t>(replay.owner_of(waited[i].target))].push_back(
            {i, waited[i].target.value, waited[i].enter, waited[i].leave});
    const auto questions = replayer::exchange(replay.comm, out);
    auto back = lists_for<ReturnAnswer>(replay.size);
    for (std::size_t asker = 0; asker < back.size(); ++asker)
        for (const ReturnQuestion& q : questions.from(static_cast<int>(asker))) {
            const rules::Enter enter = came_back(replay, {q.target}, q.enter, q.leave, Ns{0});
            back[asker].push_back({q.index, enter.valid() ? 1U : 0U, enter.time});
        }
    LongTransfers long_ones;
    for (const ReturnAnswer& answer : replayer::exchange(replay.comm, back).items) {
        const OwnTransfer& own = waited[answer.index];
        TransferExamples& of_link = examples[static_cast<std::size_t>(own.link)];
        const bool is_long = LongTransfers::is_one(own.leave - own.enter, own.bytes);
        if (answer.has_come_back != 0) {
            of_link.add_moved(own.leave - answer.came_back, own.bytes);
            if (is_long)
                long_ones.add_moved_on(own.link);
        } else if (is_long) {
            long_ones.add_other(own.link, own.elapsed, own.inside, own.bytes);
        } else {
            of_link.add(own.elapsed, own.inside, own.bytes);
        }
    }
    long_ones.teach(replay.comm, examples);
    return examples;
}

}  // namespace critpath::replayer

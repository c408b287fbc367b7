// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/onesided/fences.hpp"

#include "replayer/onesided/phase.hpp"
#include "replayer/pair/lookup.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace critpath::replayer
{

namespace
{

/// Where an origin has more of them, only those of its transfers are told that may explain most: all fences of a window
/// have one home, which shall not get one for each pair of ranks.
constexpr std::size_t most_targets = 64;

using model::WindowEvent;
using model::WindowId;

std::unordered_map<model::CommId, WindowId> windows_by_comm(const model::Definitions& definitions)
{
    std::unordered_map<model::CommId, WindowId> result;
    for (std::uint32_t w = 0; w < definitions.windows.size(); ++w)
        result[definitions.windows[w].comm] = WindowId{w};
    return result;
}

/// Of each target, the transfer that must be there last.
std::vector<std::uint32_t> last_by_target(WindowProcess& process, const std::vector<std::uint32_t>& events)
{
    std::map<std::int32_t, std::uint32_t> last;
    for (const std::uint32_t i : events) {
        const auto [entry, is_new] = last.try_emplace(process.event(i).target, i);
        if (!is_new && process.arrival(i) >= process.arrival(entry->second))
            entry->second = i;
    }
    std::vector<std::uint32_t> result;
    for (const auto& [target, transfer] : last)
        result.push_back(transfer);
    return result;
}

/// Of each target, those that may be there last, whenever it lets them begin: none of them began before another one
/// that takes as long.
std::vector<std::uint32_t> candidates_by_target(WindowProcess& process, const std::vector<std::uint32_t>& events)
{
    std::vector<std::uint32_t> result;
    std::map<std::int32_t, std::uint64_t> largest;
    for (auto i = events.rbegin(); i != events.rend(); ++i) {
        const model::WindowEvent& event = process.event(*i);
        const auto [entry, is_new] = largest.try_emplace(event.target, event.bytes);
        if (is_new || event.bytes > std::exchange(entry->second, std::max(entry->second, event.bytes)))
            result.push_back(*i);
    }
    return result;
}

}  // namespace

std::vector<Fence> fences_of(const model::Definitions& definitions, const model::ProcessTrace& trace)
{
    std::vector<Fence> result;
    if (definitions.windows.empty())
        return result;
    const auto windows = windows_by_comm(definitions);
    for (std::size_t i = 0; i < trace.collectives.size(); ++i) {
        const model::CollectiveCall collective = trace.collectives[i];
        const auto window = windows.find(collective.comm);
        const auto function = function_of(definitions, trace, collective);
        if (window != windows.end() && functions::semantic_class(function) == functions::SemanticClass::WinFence)
            result.push_back({collective.call, enter_of(trace, collective.call).time, window->second,
                              collective.root == model::CollectiveCall::no_precede});
    }
    return result;
}

void match_fences(WindowProcess& process, const std::vector<Fence>& fences)
{
    const std::vector<WindowEvent>& events = process.trace.window_events;
    std::map<WindowId, std::vector<std::uint32_t>> under_way;
    std::map<WindowId, const Fence*> last_fences;
    std::uint32_t next = 0;
    for (const Fence& fence : fences) {
        const Fence* opening = std::exchange(last_fences[fence.window], &fence);
        const bool may_begin_later = opening != nullptr && opening->may_pass;
        for (; next < events.size() && process.enter(next).time < fence.enter; ++next)
            if (events[next].what == WindowEvent::What::Transfer &&
                process.epochs.of_event[next].kind == Epochs::Kind::None)
                under_way[events[next].window].push_back(next);
        if (may_begin_later)
            process.opened(fence.call, opening->call);
        const auto explaining = may_begin_later ? candidates_by_target : last_by_target;
        const std::size_t before = process.number_fenced();
        for (const std::uint32_t transfer : explaining(process, under_way[fence.window]))
            process.fenced(fence.call, transfer, may_begin_later);
        if (process.number_fenced() - before > most_targets)
            process.forget_dominated(before);
        under_way[fence.window].clear();
    }
}

}  // namespace critpath::replayer

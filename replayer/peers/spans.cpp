// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/spans.hpp"

#include "replayer/peers/met_calls.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace critpath::replayer
{

namespace
{

constexpr std::uint32_t is_not_collective = UINT32_MAX;

/// By ContextId: those of one function that is collective are a group.
std::vector<std::uint32_t> groups_of_collectives(const model::Definitions& definitions)
{
    std::vector<std::uint32_t> groups;
    for (const model::CallingContext& context : definitions.contexts) {
        const auto what = functions::semantic_class(definitions.regions[context.region.value].function);
        groups.push_back(functions::group_of(what) == functions::Group::Collective ? context.region.value
                                                                                   : is_not_collective);
    }
    return groups;
}

}  // namespace

Spans::Spans(const Replay& replay, const Predecessors& predecessors, const SameCalls& same,
             const std::vector<Gaps>& gaps)
{
    const model::Definitions& definitions = replay.definitions;
    auto calls = std::make_shared<Calls>(Calls{{}, {}, {}, BetweenPolls(definitions)});
    const std::vector<std::uint32_t> groups = groups_of_collectives(definitions);
    std::vector<model::ContextId> place;
    for (std::uint32_t i = 0; i < definitions.contexts.size(); ++i) {
        place.push_back(same({i}));
        const auto what = functions::semantic_class(definitions.region({i}).function);
        const bool is_alone = i < predecessors.alone.size() && predecessors.alone[i];
        calls->can_wait.push_back(functions::may_meet_others(what) && !is_alone);
        calls->is_collective.push_back(calls->can_wait.back() && groups[i] != is_not_collective);
    }
    calls->meeting = find_met_calls(replay, predecessors, place, groups, is_not_collective);
    calls_ = std::move(calls);
    find_begins(calls_->can_wait, gaps);
}

void Spans::find_begins(const std::vector<bool>& is_bound, const std::vector<Gaps>& gaps)
{
    begins_.clear();
    for (const Gaps& of_process : gaps) {
        PositionSet& begins = begins_.emplace_back(of_process.end());
        if (of_process.end() > 0)
            begins.insert(0);
        for (std::size_t gap = 1; gap < of_process.end(); ++gap)
            if (is_bound[of_process.place(gap).before.value])
                begins.insert(gap);
    }
}

}  // namespace critpath::replayer

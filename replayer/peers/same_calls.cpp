// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/same_calls.hpp"

#include "formats/support/mixed.hpp"
#include "replayer/context_names.hpp"
#include "replayer/peers/met_calls.hpp"

#include <mpi.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace critpath::replayer
{

namespace
{

using model::ContextId;

constexpr std::uint32_t no_group = UINT32_MAX;

bool are_alike(const model::CallingContext& a, const model::CallingContext& b)
{
    return a.parent == b.parent && a.region == b.region;
}

/// As the definitions have them, but below the plain ones.
std::vector<model::CallingContext> below_plain(const model::Definitions& definitions,
                                               const std::vector<ContextId>& plain)
{
    std::vector<model::CallingContext> contexts = definitions.contexts;
    for (model::CallingContext& context : contexts)
        context.parent = context.parent.valid() ? plain[context.parent.value] : context.parent;
    return contexts;
}

/// The plain contexts of MPI calls whose site is known, those of one function in one caller beside each other; without
/// those that are the only ones.
std::vector<std::uint32_t> with_site(const model::Definitions& definitions, const std::vector<ContextId>& plain,
                                     const std::vector<model::CallingContext>& contexts)
{
    std::vector<std::uint32_t> result;
    for (std::uint32_t i = 0; i < contexts.size(); ++i)
        if (contexts[i].site != 0 && plain[i] == ContextId{i} &&
            definitions.region(ContextId{i}).role == model::RegionRole::Mpi)
            result.push_back(i);
    const auto key = [&](std::uint32_t i) {
        return std::tuple(contexts[i].parent, contexts[i].region, contexts[i].site, i);
    };
    std::ranges::sort(result, {}, key);
    std::vector<std::uint32_t> several;
    for (std::size_t i = 0; i < result.size(); ++i) {
        const auto is_like = [&](std::size_t other) { return are_alike(contexts[result[i]], contexts[result[other]]); };
        if ((i > 0 && is_like(i - 1)) || (i + 1 < result.size() && is_like(i + 1)))
            several.push_back(result[i]);
    }
    return several;
}

/// Who makes the calls of a context, or of any of a group.
struct Use {
    std::uint64_t users = 0;  // as a number that is the same for the same ranks; 0: nobody
    std::uint64_t ranks = 0;
    std::uint64_t calls = 0;  // of all of them
};

/// Collective over `replay.comm`.
struct Uses {
    std::vector<Use> of_context;  // by ContextId, of those in groups
    std::vector<Use> of_group;    // by its number
};

/// Of calls that have met, the uses are those of the first one, `met`.
Uses find_uses(const Replay& replay, const std::vector<ContextId>& plain, const std::vector<std::uint32_t>& group_of,
               std::size_t groups, const std::vector<std::uint32_t>& met)
{
    const std::size_t contexts = group_of.size();
    std::vector<Use> uses(contexts + groups);
    std::vector<std::uint32_t> last_user(uses.size(), UINT32_MAX);
    for (const model::ProcessTrace& trace : replay.processes) {
        if (trace.locations.empty())
            continue;
        const auto use = [&](std::size_t place) {
            uses[place].calls += 1;
            if (std::exchange(last_user[place], trace.process.value) == trace.process.value)
                return;
            uses[place].users += mixed(trace.process.value + 1);
            uses[place].ranks += 1;
        };
        const model::LocationTrace& location = trace.locations.front();
        const model::Calls& calls = location.calls;
        for (std::size_t i = 0; i < calls.size() && calls.enter(i) <= location.end; ++i) {
            if (calls.is_point(i))
                continue;
            const ContextId context = plain[calls.context(i).value];
            if (group_of[context.value] == no_group)
                continue;
            use(met[context.value]);
            use(contexts + group_of[context.value]);
        }
    }
    constexpr std::size_t numbers = sizeof(Use) / sizeof(std::uint64_t);
    MPI_Allreduce(MPI_IN_PLACE, uses.data(), static_cast<int>(uses.size() * numbers), MPI_UINT64_T, MPI_SUM,
                  replay.comm);
    const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(contexts);
    return {{uses.begin(), middle}, {middle, uses.end()}};
}

/// None of the two is made nearly twice as often by those that make it, or more: then the one has no counterpart in the
/// other. A master of two workers receives twice as many messages as each of them, but for the last ones.
bool are_as_frequent(const Use& a, const Use& b)
{
    const double of_a = static_cast<double>(a.calls) / static_cast<double>(a.ranks);
    const double of_b = static_cast<double>(b.calls) / static_cast<double>(b.ranks);
    constexpr double nearly_twice = 1.75;
    return of_a < nearly_twice * of_b && of_b < nearly_twice * of_a;
}

}  // namespace

SameCalls::SameCalls(const Replay& replay, const Predecessors& predecessors)
{
    const std::vector<ContextId> plain = first_alike(replay.definitions, SitesCount::OfMpiCalls);
    const std::vector<model::CallingContext> contexts = below_plain(replay.definitions, plain);
    first_ = plain;
    for (const model::CallingContext& context : contexts)
        sites_.push_back(static_cast<std::int64_t>(context.site));
    joins_branches_.resize(contexts.size());
    const std::vector<std::uint32_t> sorted = with_site(replay.definitions, plain, contexts);
    if (sorted.empty())
        return;
    std::vector<std::uint32_t> group_of(contexts.size(), no_group);
    std::uint32_t groups = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        groups += i == 0 || !are_alike(contexts[sorted[i]], contexts[sorted[i - 1]]) ? 1 : 0;
        group_of[sorted[i]] = groups - 1;
    }
    const std::vector<std::uint32_t> met = find_met_calls(replay, predecessors, plain, group_of, no_group);
    const Uses uses = find_uses(replay, plain, group_of, groups, met);
    std::vector<std::vector<std::uint32_t>> firsts(groups);  // of the calls that not all ranks of the group make
    for (const std::uint32_t i : sorted) {
        const Use& use = uses.of_context[i];
        const std::uint32_t group = group_of[i];
        if (use.ranks == 0 || use.users == uses.of_group[group].users)
            continue;
        const auto first = std::ranges::find_if(
            firsts[group], [&](std::uint32_t other) { return are_as_frequent(uses.of_context[other], use); });
        if (first == firsts[group].end()) {
            firsts[group].push_back(i);
        } else {
            first_[i] = {*first};
            sites_[*first] = 0;
            joins_branches_[*first] = true;
        }
    }
    for (const std::uint32_t i : sorted)
        if (met[i] != i) {
            first_[i] = first_[met[i]];
            sites_[first_[i].value] = 0;
        }
    for (std::size_t i = 0; i < first_.size(); ++i)
        first_[i] = first_[plain[i].value];
}

}  // namespace critpath::replayer

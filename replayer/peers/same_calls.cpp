// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/peers/same_calls.hpp"

#include "formats/support/mixed.hpp"

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

/// The contexts of calls whose site is known, those of one function in one caller beside each other.
std::vector<std::uint32_t> with_site(const std::vector<model::CallingContext>& contexts)
{
    std::vector<std::uint32_t> result;
    for (std::uint32_t i = 0; i < contexts.size(); ++i)
        if (contexts[i].site != 0)
            result.push_back(i);
    const auto key = [&](std::uint32_t i) {
        return std::tuple(contexts[i].parent, contexts[i].region, contexts[i].site, i);
    };
    std::ranges::sort(result, {}, key);
    return result;
}

/// Which ranks make calls, as a number that is the same for the same ranks; 0: none. Collective over `replay.comm`.
struct Users {
    std::vector<std::uint64_t> of_context;  // by ContextId
    std::vector<std::uint64_t> of_group;    // by the number of a group, any call of it
};

Users find_users(const Replay& replay, const std::vector<std::uint32_t>& group_of, std::size_t groups)
{
    const std::size_t contexts = group_of.size();
    std::vector<std::uint64_t> users(contexts + groups, 0);
    std::vector<std::uint32_t> last_user(users.size(), UINT32_MAX);
    for (const model::ProcessTrace& trace : replay.processes) {
        if (trace.locations.empty())
            continue;
        const auto use = [&](std::size_t place) {
            if (std::exchange(last_user[place], trace.process.value) != trace.process.value)
                users[place] += mixed(trace.process.value + 1);
        };
        const model::LocationTrace& location = trace.locations.front();
        const model::Calls& calls = location.calls;
        for (std::size_t i = 0; i < calls.size() && calls.enter(i) <= location.end; ++i) {
            const ContextId context = calls.context(i);
            if (calls.is_point(i) || group_of[context.value] == no_group)
                continue;
            use(context.value);
            use(contexts + group_of[context.value]);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, users.data(), static_cast<int>(users.size()), MPI_UINT64_T, MPI_SUM, replay.comm);
    const auto middle = users.begin() + static_cast<std::ptrdiff_t>(contexts);
    return {{users.begin(), middle}, {middle, users.end()}};
}

}  // namespace

SameCalls::SameCalls(const Replay& replay)
{
    const auto& contexts = replay.definitions.contexts;
    for (std::uint32_t i = 0; i < contexts.size(); ++i) {
        first_.push_back({i});
        sites_.push_back(static_cast<std::int64_t>(contexts[i].site));
    }
    const std::vector<std::uint32_t> sorted = with_site(contexts);
    if (sorted.empty())
        return;
    std::vector<std::uint32_t> group_of(contexts.size(), no_group);
    std::uint32_t groups = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const model::CallingContext& one = contexts[sorted[i]];
        const model::CallingContext& before = contexts[sorted[i == 0 ? 0 : i - 1]];
        groups += i == 0 || one.parent != before.parent || one.region != before.region ? 1 : 0;
        group_of[sorted[i]] = groups - 1;
    }
    const Users users = find_users(replay, group_of, groups);
    std::vector<std::uint32_t> first_of_some(groups, no_group);  // of the calls that not all ranks of the group make
    for (const std::uint32_t i : sorted) {
        const std::uint32_t group = group_of[i];
        if (users.of_context[i] == 0 || users.of_context[i] == users.of_group[group])
            continue;
        std::uint32_t& first = first_of_some[group];
        if (first == no_group)
            first = i;
        else
            sites_[first] = 0;
        first_[i] = {first};
    }
}

}  // namespace critpath::replayer

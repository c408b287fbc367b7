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

/// By ContextId: the same number for all contexts that the same ranks use, 0 for those that nobody does.
std::vector<std::uint64_t> users_of(const Replay& replay)
{
    const std::size_t contexts = replay.definitions.contexts.size();
    std::vector<std::uint64_t> users(contexts, 0);
    std::vector<std::uint32_t> last_user(contexts, UINT32_MAX);
    for (const model::ProcessTrace& trace : replay.processes) {
        if (trace.locations.empty())
            continue;
        const model::Calls& calls = trace.locations.front().calls;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (calls.is_point(i))
                continue;
            const ContextId context = calls.context(static_cast<std::uint32_t>(i));
            if (std::exchange(last_user[context.value], trace.process.value) != trace.process.value)
                users[context.value] += mixed(trace.process.value + 1);
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, users.data(), static_cast<int>(users.size()), MPI_UINT64_T, MPI_SUM, replay.comm);
    return users;
}

}  // namespace

SameCalls::SameCalls(const Replay& replay)
{
    const auto& contexts = replay.definitions.contexts;
    std::vector<std::uint32_t> with_site;
    for (std::uint32_t i = 0; i < contexts.size(); ++i) {
        first_.push_back({i});
        sites_.push_back(static_cast<std::int64_t>(contexts[i].site));
        if (contexts[i].site != 0)
            with_site.push_back(i);
    }
    if (with_site.empty())
        return;
    const std::vector<std::uint64_t> users = users_of(replay);
    std::erase_if(with_site, [&](std::uint32_t i) { return users[i] == 0; });
    const auto group = [&](std::uint32_t i) { return std::tuple(contexts[i].parent, contexts[i].region); };
    std::ranges::sort(with_site, [&](std::uint32_t a, std::uint32_t b) {
        return std::tuple(group(a), contexts[a].site, a) < std::tuple(group(b), contexts[b].site, b);
    });
    for (std::size_t begin = 0, end = 0; begin < with_site.size(); begin = end) {
        const std::uint32_t first = with_site[begin];
        bool all_by_the_same = true;
        for (; end < with_site.size() && group(with_site[end]) == group(first); ++end)
            all_by_the_same = all_by_the_same && users[with_site[end]] == users[first];
        if (all_by_the_same)
            continue;
        sites_[first] = 0;
        for (std::size_t i = begin; i < end; ++i)
            first_[with_site[i]] = {first};
    }
}

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/resolve/alone.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdint>

namespace critpath::replayer
{

namespace
{

bool has_one_member(const model::Communicator& comm)
{
    return comm.is_self || (!comm.is_inter && comm.members.size() == 1);
}

}  // namespace

std::vector<bool> calls_alone(const Replay& replay)
{
    const model::Definitions& definitions = replay.definitions;
    if (std::ranges::none_of(definitions.communicators, has_one_member))
        return {};
    constexpr std::uint8_t alone = 1, with_others = 2;
    std::vector<std::uint8_t> seen(definitions.contexts.size(), 0);
    for (const model::ProcessTrace& trace : replay.processes)
        for (const model::CollectiveCall& c : trace.collectives)
            if (c.is_blocking() && c.call.valid())
                seen[replay.trace_of(c.call.location).calls.context(c.call.call.value).value] |=
                    has_one_member(definitions.communicators[c.comm.value]) ? alone : with_others;
    MPI_Allreduce(MPI_IN_PLACE, seen.data(), static_cast<int>(seen.size()), MPI_UINT8_T, MPI_BOR, replay.comm);
    std::vector<bool> result;
    for (const std::uint8_t how : seen)
        result.push_back(how == alone);
    return result;
}

}  // namespace critpath::replayer

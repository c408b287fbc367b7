// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/record_objects.hpp"

#include "collector/mpi/members.hpp"

namespace critpath::preload
{

namespace
{

// The world ranks of `group` (to_world_ranks), in memory of the thread.
struct WorldRanks {
    const int* rank = nullptr;
    int size = 0;
};

WorldRanks world_ranks(MPI_Group group, Scratch& scratch)
{
    int size = 0;
    // Open MPI takes MPI_GROUP_NULL for a group here, but not where it is asked for its size.
    if (group == handles.group_null || pmpi.Group_size(group, &size) != MPI_SUCCESS || size <= 0) {
        return {};
    }
    int* world = scratch.room<int>(world_ranks_room(size));
    const bool known = world != nullptr && to_world_ranks(group, size, world);
    return known ? WorldRanks{world, size} : WorldRanks{};
}

}  // namespace

void record_win_group(Call& call, int result, MPI_Group group, int assertions, MPI_Win win)
{
    if (result != MPI_SUCCESS) {
        call.write();
        return;
    }
    set_object(call.record(), process.windows.find(key_of(win)));
    call.record().extra = static_cast<std::uint32_t>(assertions);
    const WorldRanks members = world_ranks(group, call.thread().completions);
    call.write(static_cast<std::uint32_t>(members.size));
    append_members(members.rank, members.size, [&](const auto& record) { call.append(record); });
    call.write_pause();
}

}  // namespace critpath::preload

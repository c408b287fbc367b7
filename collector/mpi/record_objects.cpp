// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/record_objects.hpp"

namespace critpath::preload
{

namespace
{

// The world ranks of `group`, in memory of the thread; -1 stands for a process of another MPI_COMM_WORLD.
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
    int* world = scratch.room<int>(2 * static_cast<std::size_t>(size));
    if (world == nullptr) {
        return {};
    }
    int* ranks = world + size;
    for (int i = 0; i < size; ++i) {
        ranks[i] = i;
    }
    if (pmpi.Group_translate_ranks(group, size, ranks, process.world_group, world) != MPI_SUCCESS) {
        return {};
    }
    for (int i = 0; i < size; ++i) {
        world[i] = world[i] < 0 ? -1 : world[i];
    }
    return {world, size};
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
    for (int first = 0; first < members.size;) {
        spool::MembersRecord record{};
        record.kind = spool::RecordKind::Members;
        for (; record.count < 14 && first < members.size; ++first) {
            record.world_rank[record.count++] = members.rank[first];
        }
        call.append(record);
    }
    call.write_pause();
}

}  // namespace critpath::preload

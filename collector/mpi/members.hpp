// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the members of a group are told: as world ranks, in Members records.
#pragma once

#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/process.hpp"
#include "formats/spool/record.hpp"

#include <cstddef>
#include <iterator>

namespace critpath::preload
{

/// Integers that to_world_ranks() needs for a group of `size`.
inline std::size_t world_ranks_room(int size)
{
    return 2 * static_cast<std::size_t>(size);
}

/// Fills the first `size` integers at `world` with the world ranks of all members of `group`; -1 stands for a process
/// of another MPI_COMM_WORLD.
inline bool to_world_ranks(MPI_Group group, int size, int* world)
{
    int* ranks = world + size;
    for (int i = 0; i < size; ++i) {
        ranks[i] = i;
    }
    if (pmpi.Group_translate_ranks(group, size, ranks, process.world_group, world) != MPI_SUCCESS) {
        return false;
    }
    for (int i = 0; i < size; ++i) {
        world[i] = world[i] < 0 ? -1 : world[i];  // MPI_UNDEFINED
    }
    return true;
}

/// Gives each of the records that list `size` world ranks to `append`.
template <class Append>
void append_members(const int* world, int size, Append&& append)
{
    for (int first = 0; first < size;) {
        spool::MembersRecord record{};
        record.kind = spool::RecordKind::Members;
        for (; record.count < std::size(record.world_rank) && first < size; ++first) {
            record.world_rank[record.count++] = world[first];
        }
        append(record);
    }
}

}  // namespace critpath::preload

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/literal/groups.hpp"

namespace critpath::replayer::literal
{

MPI_Comm Groups::of(const std::vector<int>& processes, int tag)
{
    if (processes.size() == static_cast<std::size_t>(replay_.size))
        return replay_.comm;
    const auto [entry, is_new] = comms_.try_emplace(processes, MPI_COMM_NULL);
    if (is_new) {
        MPI_Group all = MPI_GROUP_NULL;
        MPI_Group some = MPI_GROUP_NULL;
        MPI_Comm_group(replay_.comm, &all);
        MPI_Group_incl(all, static_cast<int>(processes.size()), processes.data(), &some);
        MPI_Comm_create_group(replay_.comm, some, tag, &entry->second);
        MPI_Group_free(&some);
        MPI_Group_free(&all);
    }
    return entry->second;
}

void Groups::close()
{
    for (auto& [processes, comm] : comms_)
        MPI_Comm_free(&comm);
    comms_.clear();
}

}  // namespace critpath::replayer::literal

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/restore/restore.hpp"

#include "replayer/restore/visits.hpp"

#include <algorithm>
#include <utility>

namespace critpath::replayer
{

std::vector<LocationSpan> own_spans(const Replay& replay)
{
    std::vector<LocationSpan> spans(replay.definitions.locations.size());
    for (const model::ProcessTrace& trace : replay.processes)
        for (const model::LocationTrace& location : trace.locations)
            if (location.calls.size() > 0 || location.end > location.begin)
                spans[location.location.value] = {location.begin, location.end, trace.locations.front().location,
                                                  false};
    return spans;
}

JumpsByLocation own_jumps(const Replay& replay, const Predecessors& predecessors)
{
    JumpsByLocation jumps(replay.definitions.locations.size());
    for (std::size_t p = 0; p < replay.processes.size(); ++p)
        for (std::size_t l = 0; l < replay.processes[p].locations.size(); ++l)
            jumps[replay.processes[p].locations[l].location.value] = {predecessors.processes[p][l].jumps,
                                                                      replay.processes[p].locations[l]};
    return jumps;
}

Ends agree_on_ends(const Replay& replay, const Ends& own)
{
    Ends ends = own;
    std::int64_t times[2] = {-own.begin.count(), own.end.count()};
    MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_INT64_T, MPI_MAX, replay.comm);
    const bool has_last = own.last.valid() && own.end.count() == times[1];
    std::int64_t last = has_last ? std::int64_t{own.last.value} : -1;
    MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT64_T, MPI_MAX, replay.comm);
    ends.begin = model::Ns{-times[0]};
    ends.end = model::Ns{times[1]};
    ends.last = last < 0 ? model::LocationId::none() : model::LocationId{static_cast<std::uint32_t>(last)};
    return ends;
}

void add_up(const Replay& replay, const Ends& ends, std::uint64_t hops, std::uint64_t clock_violations, Path& path)
{
    std::uint64_t counts[2] = {hops, clock_violations};
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_UINT64_T, MPI_SUM, replay.comm);
    path.begin = ends.begin;
    path.makespan = ends.end - ends.begin;
    path.hops = counts[0];
    path.clock_violations = counts[1];
}

Path restore(const Replay& replay, const Predecessors& predecessors, WalkPath walk_path)
{
    Path path;
    path.pieces = walk_path(replay, predecessors, path);
    std::ranges::reverse(path.pieces);  // they come in the order of the walk
    visit_preempted(replay, predecessors, path);
    return path;
}

}  // namespace critpath::replayer

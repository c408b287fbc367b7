// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the comparison of clocks between nodes: at the beginning, at the end, and now and then in long runs. Its outcome
// is a ClockRecord of each process. (docs/ALGORITHM, "Clocks")
//
// Processes that share a clock (clock_domain.hpp) are represented by the one of the smallest rank; the representatives
// are compared in a tree. Where all share one clock, one small reduction finds that out, and nothing else happens.
#pragma once

#include "collector/mpi/call.hpp"

#include <mpi.h>

namespace critpath::preload
{

/// Collective over all ranks, at the end of MPI_Init.
void start_clocks();

/// Collective over all ranks, in MPI_Finalize.
void finish_clocks();

/// There are several clocks, and the run may become long.
extern bool watching_clocks;

/// The slow part of watch_clocks. Returns true if it has taken time.
bool count_for_clocks();

/// Behind the record of a blocking collective in which every rank waits for every other. At some of those on
/// MPI_COMM_WORLD the ranks agree on the time, and at some of these they compare their clocks. This cannot deadlock:
/// a correct program must allow each of these collectives to synchronise (MPI-3.1, 5.14), so what may stand in it may
/// stand right behind it; they have the same order on all ranks, unless several threads of one may be in MPI, and then
/// no rank watches.
inline void watch_clocks(Call& call, int result, MPI_Comm comm)
{
    if (!watching_clocks || comm != handles.comm_world || result != MPI_SUCCESS || local.depth != 1) [[likely]] {
        return;
    }
    if (count_for_clocks() && call.recorded()) {
        call.write_own_time();
    }
}

}  // namespace critpath::preload

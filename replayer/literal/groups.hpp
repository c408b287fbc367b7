// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the communicators on which collectives are re-executed: one for each set of processes that hold the members of a
// recorded communicator.
#pragma once

#include "replayer/analysis.hpp"

#include <mpi.h>

#include <map>
#include <vector>

namespace critpath::replayer::literal
{

/// Recorded communicators whose members are held by the same processes share one, so that an application that
/// duplicates communicators without end does not use up MPI's.
class Groups
{
public:
    explicit Groups(const Replay& replay) : replay_(replay) {}
    Groups(const Groups&) = delete;
    Groups& operator=(const Groups&) = delete;

    /// The communicator of `processes` (of the replay; ascending; this one among them). Collective over them where they
    /// meet for the first time. `tag` keeps creations of different sets apart that happen at a time.
    MPI_Comm of(const std::vector<int>& processes, int tag);

    /// Gives all of them back.
    void close();

private:
    const Replay& replay_;
    std::map<std::vector<int>, MPI_Comm> comms_;
};

}  // namespace critpath::replayer::literal

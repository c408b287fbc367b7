// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the topology of a communicator says about the neighbours of a process, and its records in the spool.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace critpath::preload
{

class SpoolWriter;

/// How many blocks a process sends and gets in neighbourhood collectives.
struct Degrees {
    int in, out;
};

/// Of the process of this rank; none if `comm` has no topology.
Degrees degrees_of(MPI_Comm comm, int rank);

/// Records the topology of a communicator that the spool calls `id`, if it has one, behind its Communicator record.
/// `rank`: of this process.
void write_topology(MPI_Comm comm, int rank, std::int32_t id, SpoolWriter& spool);

}  // namespace critpath::preload

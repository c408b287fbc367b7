// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the launcher reads from the environment that mpirun, srun and batch systems made: which rank this is and
// which job it belongs to.
#pragma once

#include <string>

namespace critpath::launcher
{

struct ProcessPlace {
    int rank = 0;          // in MPI_COMM_WORLD; 0 if this is not a process of a parallel job
    int rank_on_node = 0;  // 0 where nobody tells
    int ranks = 1;         // of the job; 1 where nobody tells
    bool is_parallel = false;
};

/// Known before MPI_Init, from what Open MPI, PMIx, PMI and Slurm set. Several may have: a batch system that started
/// the launcher of an MPI library leaves the launcher's place among its own tasks to all ranks. So the launchers of the
/// MPI library that critpath was built with come first, and Slurm last.
ProcessPlace find_place();

/// Job id of the batch system, without characters that a file name should not have; empty outside of jobs.
std::string find_job();

/// Value of an environment variable; empty if it is not set.
std::string environment_value(const char* name);

/// `text` with all but letters, digits and "._+-" replaced by '_'.
std::string as_file_name(const std::string& text);

}  // namespace critpath::launcher

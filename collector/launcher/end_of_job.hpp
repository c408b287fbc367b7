// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how a job is ended of which one process cannot be started: the others would wait for it in MPI_Init.
#pragma once

namespace critpath::launcher
{

/// Asks the launcher to end the job. Most do so by themselves when a process fails; Hydra (MPICH) only if the process
/// has been in MPI_Init. Does nothing under another launcher.
void end_job(int exit_code);

}  // namespace critpath::launcher

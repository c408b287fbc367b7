// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the beginning and the end of a recording: MPI_Init, MPI_Finalize, the end of the process.
#pragma once

namespace critpath::preload
{

/// Collective over all ranks, after PMPI_Init: agrees on the trace, opens the spools. On success the process records.
void begin_recording();

/// Collective over all ranks, before PMPI_Finalize: closes the spools, has the archive written, says what was recorded.
void end_recording();

/// Collective, where a recording was begun, refused or not: frees what the library has made in MPI.
void free_communicator();

/// Collective: true if all ranks say so.
bool agree(bool mine);

/// At exit: what is to be said and tidied where MPI was never initialised or not finalised.
void end_of_process();

}  // namespace critpath::preload

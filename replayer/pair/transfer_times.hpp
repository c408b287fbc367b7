// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the agreement of all processes on how long transfers take.
#pragma once

#include "replayer/rules/calibration.hpp"

#include <mpi.h>

namespace critpath::replayer
{

/// What follows from the fastest transfers of all processes. Collective.
rules::TransferTime agree_on_transfer_time(MPI_Comm comm, rules::FastestMessages fastest);

}  // namespace critpath::replayer

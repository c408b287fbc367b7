// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the Fortran wrappers that generate.py writes, and the entries of all.
#include "collector/fortran/bodies.hpp"
#include "collector/fortran/convert.hpp"
#include "collector/mpi/clock_sync.hpp"
#include "collector/mpi/record_objects.hpp"
#include "collector/mpi/record_requests.hpp"

namespace critpath::preload::fortran
{

#include "fortran_regular.inc"

}  // namespace critpath::preload::fortran

using namespace critpath::preload::fortran;  // NOLINT(google-build-using-namespace)

#include "fortran_entries.inc"

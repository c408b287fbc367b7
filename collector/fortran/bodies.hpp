// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the list of the Fortran wrappers: for each function X its type in Fortran, XFunction, and X itself, which calls
// `function` and records (generate.py). `function` is the entry of the MPI library for the binding that was called;
// there is one.
#pragma once

#include "collector/fortran/library.hpp"
#include "collector/mpi/call.hpp"

namespace critpath::preload::fortran
{

#include "fortran_bodies.hpp"

}  // namespace critpath::preload::fortran

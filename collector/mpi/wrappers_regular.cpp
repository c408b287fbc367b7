// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the wrappers that generate.py writes, one template a semantic class.
#include "collector/mpi/clock_sync.hpp"
#include "collector/mpi/record_calls.hpp"
#include "collector/mpi/record_objects.hpp"
#include "collector/mpi/record_requests.hpp"

using namespace critpath::preload;  // NOLINT(google-build-using-namespace)

#include "wrappers.inc"

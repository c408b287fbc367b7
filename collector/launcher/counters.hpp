// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the question whether PAPI knows the counters that --counters names. Only --config asks it: in a run it would
// cost each process tens of milliseconds, and the preload library says what it could not count.
#pragma once

#include <string>
#include <vector>

namespace critpath::launcher
{

/// Of `list`, with commas between: those that this machine cannot count, although PAPI knows them. Throws
/// Failure(Usage) for a name that PAPI does not know, and Failure if there is no PAPI library.
std::vector<std::string> unavailable_counters(const std::string& list);

}  // namespace critpath::launcher

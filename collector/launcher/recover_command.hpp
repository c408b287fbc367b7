// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns `cpcollect recover`: its command line and what it says.
#pragma once

namespace critpath::launcher
{

/// True if the first word says so. An application of that name needs its path, or -- before it.
bool is_recover_command(int argc, const char* const* argv);

/// Runs it and returns the exit code. `rank` of the process that a launcher may have started it as: one does the work.
int recover_command(int argc, const char* const* argv, int rank);

}  // namespace critpath::launcher

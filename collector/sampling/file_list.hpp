// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the list of the files that the threads of a process have in the spool (<rank>.files, formats/spool/record.hpp),
// so that one which is lost is missed.
#pragma once

namespace critpath::sampling
{

/// Adds "<thread>.<kind>", which is there by now. No cancellation point. What cannot be written is not missed.
void list_file(const char* directory, int rank, int thread, const char* kind);

}  // namespace critpath::sampling

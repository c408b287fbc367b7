// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the records of a process that died say about themselves. The newest of them have no checksum, which would
// cost the application time, but most damage shows all the same: in kinds and functions that there are not, in times
// that are outside of the recording or run backwards, in holes. What stands behind damage is not trusted: a call may
// be missing there whose message would be paired with another one.
#pragma once

#include "collector/archive/spool_reader.hpp"

#include <string>
#include <vector>

namespace critpath::archive
{

/// Looks at all records, and lets `process` end where the first of them makes no sense. What is wrong becomes a line of
/// `damage` a file: "file: what". Returns whether anything is left that says what the process did.
bool check_records(const std::string& directory, int rank, ProcessSpool& process, std::vector<std::string>& damage);

}  // namespace critpath::archive

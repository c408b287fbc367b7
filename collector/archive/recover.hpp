// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the archive of a recording that ended without making one: a rank was killed, the job ran out of time, the disk
// was full. One process does it, without MPI. It may be interrupted and repeated at any time: the spool goes when the
// archive is complete, and the archive is complete when its anchor file is there.
#pragma once

#include "collector/archive/session.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace critpath::archive
{

struct RecoverOptions {
    bool force = false;       // even if processes seem to record still, or there is an archive already
    bool keep = false;        // the spool
    bool only_local = false;  // refuses where it cannot tell whether the processes still run: on other hosts
};

struct Recovered {
    Totals totals;
    std::int32_t ranks = 0;
    std::string incomplete;          // which ranks' recordings did not end as they should, and how
    std::vector<std::string> notes;  // what else a user should know; a line each
    bool is_spool_kept = false;
    bool is_made_already = false;  // the application has made it while it was waited for; nothing else is set
};

/// True for the name of what a run, or a recovery, leaves in the directory of a spool.
bool is_spool_file(const std::string& name);

/// True if there is a spool and no archive.
bool can_be_recovered(const std::filesystem::path& trace);

/// The same, and recover() with `only_local` would not refuse: the application has ended.
bool is_abandoned(const std::filesystem::path& trace);

/// True if there is an archive. It is whole: its anchor is written last.
bool is_archive(const std::filesystem::path& trace);

/// Removes the spool beside an archive if nobody asked for it to be kept: what made the archive, a recovery or
/// MPI_Finalize, was ended before it came to that. Returns whether there was one to remove. Throws as recover() does.
bool remove_leftovers(const std::filesystem::path& trace, const RecoverOptions& options,
                      std::vector<std::string>& notes);

/// Throws Failure: BadTrace if nothing can be read, Usage if the processes are still running, Failed if the archive
/// cannot be written; then the spool is as it was.
Recovered recover(const std::filesystem::path& trace, const RecoverOptions& options);

}  // namespace critpath::archive

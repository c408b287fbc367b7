// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the directory of a trace before the run: its name, that it is new or may be overwritten, and whether it can
// be written to. Only one process of a job uses this.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace critpath::launcher
{

/// Absolute path of the directory that will be used: `output`, with its patterns replaced, if it is given. Otherwise
/// cp-<application>-<job>, or the date and time outside of jobs; a job's further runs get .2, .3 ..., unless `force`.
std::filesystem::path choose_directory(const std::string& output, const std::string& application, bool force);

struct ClaimedDirectory {
    std::filesystem::path path;
    bool made;                // was not there before
    std::error_code refusal;  // why nothing can be written there
};

/// Makes the directory that choose_directory() names, or empties the trace that it holds if `force`. Throws
/// Failure(Usage) if it holds anything else. Steps of one batch job that begin at the same moment get different
/// directories, if none was given.
ClaimedDirectory claim_directory(const std::string& output, const std::string& application, bool force);

}  // namespace critpath::launcher

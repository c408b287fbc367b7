// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what a tool says when it is ended by a signal that its own doing raised (SIGSEGV, SIGBUS, SIGFPE, SIGILL,
// SIGABRT): a library that gives up on what it reads, or a defect.
#pragma once

#include "formats/support/error.hpp"

#include <string>

namespace critpath
{

/// While it lives, what a crash of its thread is put down to. The innermost one counts. Cheap: two stores, and what it
/// takes to make the message.
class LastWords
{
public:
    /// `message` as that of a Failure. ExitCode::BadTrace: the crash becomes this exit code, without a core dump.
    /// ExitCode::Failed: after the message the signal takes its course, so that there is a core dump or whatever else
    /// helps to find the defect.
    LastWords(ExitCode code, const std::string& message);
    LastWords(const LastWords&) = delete;
    LastWords& operator=(const LastWords&) = delete;
    ~LastWords();

private:
    friend struct CrashHandler;
    const LastWords* outer_;
    ExitCode code_;
    std::string line_;
};

/// From now on a crash of this process prints "<tool>: <last words>" and ends it; launchers then end the job. Only once
/// a process. `later`: not the process that shall speak first; it waits a moment before it prints, so that of many
/// processes that crash on the same file one speaks, and the launcher ends the others meanwhile.
void catch_crashes(const char* tool, bool later);

}  // namespace critpath

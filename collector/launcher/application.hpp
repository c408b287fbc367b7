// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the question whether the application can be started and recorded at all.
#pragma once

#include "collector/launcher/environment.hpp"

#include <string>

namespace critpath::launcher
{

/// Exit codes of shells for programs that cannot be run.
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;

/// Cannot be recorded: message as of critpath::Failure.
struct Unusable {
    int exit_code;
    std::string message;
};

/// Path of the program that `name` means, as execvp would choose it. Throws Unusable if there is none, or if it
/// cannot be recorded: not for this machine, static, or with privileges that make the loader ignore LD_PRELOAD.
/// Scripts and other things that the kernel or a shell interpret are taken as they are.
std::string find_application(const std::string& name, const ProcessPlace& place);

/// Last component of a path.
std::string base_name(const std::string& path);

}  // namespace critpath::launcher

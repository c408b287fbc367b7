// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what tools print at once on standard output: a full disk behind it is a failure.
#pragma once

#include "formats/support/error.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace critpath
{

/// As far as there is somebody who reads it, if the process ignores SIGPIPE. Throws Failure(Failed).
inline void print_checked(std::string_view words)
{
    if ((std::fwrite(words.data(), 1, words.size(), stdout) != words.size() || std::fflush(stdout) != 0) &&
        errno != EPIPE)
        fail(ExitCode::Failed, "standard output: {}; what was printed is incomplete", std::strerror(errno));
}

}  // namespace critpath

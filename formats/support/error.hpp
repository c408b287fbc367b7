// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the tools (not the preload library) say that something went wrong, and with which exit code.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace critpath
{

/// Exit codes of all tools.
enum class ExitCode : int { Done = 0, Failed = 1, Usage = 2, BadTrace = 3 };

/// A failure that a user can act on. The message names the object, the cause and the next action, in that order:
/// "object: cause; next action".
class Failure : public std::runtime_error
{
public:
    Failure(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

    [[nodiscard]] ExitCode code() const noexcept { return code_; }

private:
    ExitCode code_;
};

template <class... Args>
[[noreturn]] void fail(ExitCode code, fmt::format_string<Args...> format, Args&&... args)
{
    throw Failure(code, fmt::format(format, std::forward<Args>(args)...));
}

/// For a failed system call: "<what>: <strerror(errno)>", ExitCode::Failed.
template <class... Args>
[[noreturn]] void throw_errno(fmt::format_string<Args...> format, Args&&... args)
{
    const int error = errno;
    throw Failure(ExitCode::Failed,
                  fmt::format("{}: {}", fmt::format(format, std::forward<Args>(args)...), std::strerror(error)));
}

}  // namespace critpath

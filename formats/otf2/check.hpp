// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how failures of libotf2 become ours: a Failure with OTF2's own name and description of the error instead
// of a line that the library prints by itself.
#pragma once

#include "formats/support/error.hpp"

#include <otf2/otf2.h>

#include <string>

namespace critpath::otf2
{

/// While one lives, libotf2 prints nothing; its messages are kept (per thread) for check(). The callback that was
/// registered before, perhaps by an application that uses libotf2 itself, is put back in the end.
class QuietErrors
{
public:
    QuietErrors();
    ~QuietErrors();
    QuietErrors(const QuietErrors&) = delete;
    QuietErrors& operator=(const QuietErrors&) = delete;

private:
    OTF2_ErrorCallback previous_;
};

/// What libotf2 said on this thread since the last call, or "".
std::string take_message();

/// "<name>: <description>" of an error code, with what libotf2 said about it.
std::string describe(OTF2_ErrorCode rc);

/// Throws Failure "<what>: <cause>" (ExitCode::Failed) unless `rc` is a success or a warning.
template <class... Args>
void check(OTF2_ErrorCode rc, fmt::format_string<Args...> what, Args&&... args)
{
    if (rc > OTF2_SUCCESS || rc == OTF2_ABORT) {
        throw Failure(ExitCode::Failed,
                      fmt::format("{}: {}", fmt::format(what, std::forward<Args>(args)...), describe(rc)));
    }
}

}  // namespace critpath::otf2

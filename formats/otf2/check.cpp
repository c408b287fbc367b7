// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/check.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

namespace critpath::otf2
{

namespace
{

thread_local std::string last_message;
thread_local int last_errno = 0;

OTF2_ErrorCode keep_message(void* /*user*/, const char* /*file*/, std::uint64_t /*line*/, const char* /*function*/,
                            OTF2_ErrorCode code, const char* format, std::va_list arguments)
{
    // The first message is the cause; what follows is the callers passing it on.
    const int error = errno;
    if (last_message.empty() && format != nullptr) {
        char text[512];
        if (std::vsnprintf(text, sizeof text, format, arguments) > 0) {
            last_message = text;
            last_errno = error;
        }
    }
    return code;
}

}  // namespace

QuietErrors::QuietErrors() : previous_(OTF2_Error_RegisterCallback(keep_message, nullptr))
{
    last_message.clear();
}

QuietErrors::~QuietErrors()
{
    OTF2_Error_RegisterCallback(previous_, nullptr);
}

std::string take_message()
{
    return std::exchange(last_message, {});
}

std::string describe(OTF2_ErrorCode rc)
{
    const std::string said = take_message();
    if (said.starts_with("POSIX: ")) {  // a failed system call; the rest is the file, which our callers name
        return last_errno != 0 ? std::strerror(last_errno) : OTF2_Error_GetDescription(rc);
    }
    const std::string plain = fmt::format("{} ({})", OTF2_Error_GetDescription(rc), OTF2_Error_GetName(rc));
    return said.empty() ? plain : fmt::format("{}: {}", plain, said);
}

}  // namespace critpath::otf2

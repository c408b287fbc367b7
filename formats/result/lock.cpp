// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/result/lock.hpp"

#include "formats/result/segments.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace critpath::result
{

Lock::Lock(const std::filesystem::path& trace, const std::function<void()>& before_waiting)
{
    const std::filesystem::path directory = trace / directory_name;
    std::error_code ignored;
    std::filesystem::create_directories(directory, ignored);
    directory_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_ < 0 || ::flock(directory_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return;
    before_waiting();
    while (::flock(directory_, LOCK_EX) != 0 && errno == EINTR) {
    }
}

Lock::~Lock()
{
    if (directory_ >= 0)
        ::close(directory_);
}

}  // namespace critpath::result

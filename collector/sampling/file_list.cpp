// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/file_list.hpp"

#include "collector/sampling/descriptors.hpp"
#include "collector/sampling/text.hpp"

#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace critpath::sampling
{

void list_file(const char* directory, int rank, int thread, const char* kind)
{
    const Text path = Text() << directory << "/" << rank << ".files";
    const Text line = Text() << thread << "." << kind << "\n";
    const int fd = open_quietly(path.path(), O_WRONLY | O_CREAT | O_APPEND);
    if (fd < 0) {
        return;
    }
    struct stat status;
    const std::size_t size = std::strlen(line.c_str());
    if (fstat(fd, &status) == 0 && file_may_grow_to(static_cast<std::uint64_t>(status.st_size) + size)) {
        // In one piece: others may write, too.
        [[maybe_unused]] const long ignored = syscall(SYS_write, fd, line.c_str(), size);
    }
    close_quietly(fd);
}

}  // namespace critpath::sampling

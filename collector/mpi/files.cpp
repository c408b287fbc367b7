// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/files.hpp"

#include "collector/mpi/process.hpp"
#include "collector/mpi/thread.hpp"
#include "collector/sampling/descriptors.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace critpath::preload
{

void copy_maps()
{
    const Text path = Text() << process.spool << "/" << process.rank << ".maps";
    const int from = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    const int to = from < 0 ? -1 : open(path.path(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    static char buffer[4096];  // see the header
    std::uint64_t done = 0;
    while (from >= 0 && to >= 0) {
        const ssize_t got = read(from, buffer, sizeof buffer);
        if (got <= 0 || sampling::write_at(to, done, buffer, static_cast<std::size_t>(got)) != 0) {
            break;
        }
        done += static_cast<std::uint64_t>(got);
    }
    // Not made empty at first: file systems take that for a reason to write the new content to the disk at once.
    if (to >= 0 && ftruncate(to, static_cast<off_t>(done)) != 0) {
        unlink(path.path());  // what is behind it now says the wrong thing
    }
    for (const int fd : {from, to}) {
        if (fd >= 0) {
            close(fd);
        }
    }
}

void remove_spool_files()
{
    for (int thread = 0; thread < numbered_threads(); ++thread) {
        for (const char* kind : {".calls", ".samples"}) {
            unlink((Text() << process.spool << "/" << process.rank << "." << thread << kind).path());
        }
    }
    for (const char* kind : {".maps", ".unloads"}) {
        unlink((Text() << process.spool << "/" << process.rank << kind).path());
    }
}

void remove_spool_directory()
{
    rmdir(process.spool);
}

const char* error_text(int error)
{
    const char* text = strerrordesc_np(error);
    return text == nullptr ? "unknown error" : text;
}

const char* remedy(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return "give more room, or record less";
    case EFBIG:
        return "raise the limit on the size of files (ulimit -f), or record less";
    case EMFILE:
    case ENFILE:
        return "allow more open files (ulimit -n)";
    case ENOMEM:
        return "allow more memory (ulimit -v)";
    case ENOENT:
    case EACCES:
    case EPERM:
        return "leave the directory of the trace in the application's reach, and as it is, until MPI_Finalize";
    default:
        return "choose another directory with --output";
    }
}

}  // namespace critpath::preload

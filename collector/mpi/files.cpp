// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/files.hpp"

#include "collector/mpi/process.hpp"
#include "collector/mpi/thread.hpp"
#include "collector/sampling/withheld.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace critpath::preload
{

namespace
{

ssize_t read_some(int fd, char* buffer, std::size_t size)
{
    ssize_t got;
    do {
        got = read(fd, buffer, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

bool write_all(int fd, const char* data, std::size_t size)
{
    while (size > 0) {
        const ssize_t written = write(fd, data, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        data += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

}  // namespace

std::size_t read_file(const char* path, char* buffer, std::size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    std::size_t done = 0;
    while (done < size) {
        const ssize_t got = read_some(fd, buffer + done, size - done);
        if (got <= 0) {
            break;
        }
        done += static_cast<std::size_t>(got);
    }
    close(fd);
    return done;
}

void copy_maps()
{
    const Text path = Text() << process.spool << "/" << process.rank << ".maps";
    const int from = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    const int to = open(path.path(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    static char buffer[4096];  // only in MPI_Init and MPI_Finalize
    const sampling::Withheld size(SIGXFSZ);
    ssize_t got = 0;
    while (from >= 0 && to >= 0 && (got = read_some(from, buffer, sizeof buffer)) > 0) {
        if (!write_all(to, buffer, static_cast<std::size_t>(got))) {
            break;
        }
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
    unlink((Text() << process.spool << "/" << process.rank << ".maps").path());
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

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/descriptors.hpp"

#include "collector/sampling/text.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace critpath::sampling
{

int move_descriptor_up(int fd)
{
    // Not as high as the limit allows: the kernel's table of descriptors is as long as the highest number in use, and
    // is copied at each fork.
    constexpr rlim_t highest = 4096;
    rlimit limit;
    if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return fd;
    }
    const rlim_t top = limit.rlim_cur < highest ? limit.rlim_cur : highest;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(top - top / 4));
    if (moved < 0) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        return fd;
    }
    close_quietly(fd);
    return moved;
}

int open_quietly(const char* path, int flags)
{
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0666));
}

void close_quietly(int fd)
{
    syscall(SYS_close, fd);
}

FileIdentity identity_of(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 ? FileIdentity{status.st_dev, status.st_ino} : FileIdentity{};
}

bool is_file(int fd, const FileIdentity& identity)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_dev == identity.device && status.st_ino == identity.inode;
}

Descriptor open_to_stay(const char* path, int flags)
{
    constexpr rlim_t few = 16;
    rlimit limit;
    const int lowest = open_quietly(path, flags);
    if (lowest >= 0 && (getrlimit(RLIMIT_NOFILE, &limit) != 0 || static_cast<rlim_t>(lowest) + few > limit.rlim_cur)) {
        close_quietly(lowest);
        return no_descriptor;
    }
    const int fd = move_descriptor_up(lowest);
    return fd < 0 ? no_descriptor : Descriptor{fd, identity_of(fd)};
}

void close_if_ours(Descriptor& descriptor)
{
    const Descriptor old = descriptor;
    descriptor = no_descriptor;  // first, so that the child of a fork() in between closes nothing that is not ours
    if (old.fd >= 0 && is_file(old.fd, old.identity)) {
        close_quietly(old.fd);
    }
}

bool file_may_grow_to(std::uint64_t size)
{
    rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

int write_at(int fd, std::uint64_t offset, const void* bytes, std::size_t size)
{
    if (!file_may_grow_to(offset + size)) {
        return EFBIG;
    }
    for (const char* rest = static_cast<const char*>(bytes); size > 0;) {
        const ssize_t written = syscall(SYS_pwrite64, fd, rest, size, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return written < 0 ? errno : ENOSPC;
        }
        rest += written;
        size -= static_cast<std::size_t>(written);
        offset += static_cast<std::uint64_t>(written);
    }
    return 0;
}

std::size_t read_text(const char* path, char* text, std::size_t size)
{
    std::size_t length = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && length + 1 < size) {
        const ssize_t got = read(fd, text + length, size - 1 - length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        length += static_cast<std::size_t>(got);
    }
    if (fd >= 0) {
        close(fd);
    }
    text[length] = '\0';
    return length;
}

void read_thread_name(std::int64_t tid, char (&name)[spool::thread_name_size])
{
    name[0] = '\0';
    if (tid == syscall(SYS_gettid)) {
        prctl(PR_GET_NAME, name);
        return;
    }
    const Text path = Text() << "/proc/self/task/" << static_cast<std::uint64_t>(tid) << "/comm";
    read_text(path.c_str(), name, sizeof name);
    name[std::strcspn(name, "\n")] = '\0';
}

}  // namespace critpath::sampling

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/result/file.hpp"

#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"
#include "formats/support/terminal.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace critpath::result
{

namespace
{

class Descriptor
{
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() { close(); }

    [[nodiscard]] int get() const { return fd_; }

    /// False if the kernel reports an error that it has kept until now.
    bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

private:
    int fd_;
};

/// Zero, or the errno of what went wrong.
int write_all(int fd, std::span<const unsigned char> bytes)
{
    const bool has_room = ::fallocate(fd, 0, 0, static_cast<off_t>(bytes.size())) == 0;
    if (!has_room && (errno == ENOSPC || errno == EDQUOT))
        return errno;
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR)
            return errno;
        if (written == 0)
            return ENOSPC;  // as some file systems of users say that they are full
        if (written > 0)
            bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    // On file systems that allocate late and cannot reserve, only fsync() tells of a full disk. It may take as long as
    // a tenth of a replay.
    return has_room || ::fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

[[noreturn]] void fail_to_write(const std::filesystem::path& path, int error)
{
    const char* next = error == ENOSPC || error == EDQUOT ? "free some space and run cpreplay again"
                                                          : "make the directory writable and run cpreplay again";
    fail(ExitCode::Failed, "{}: cannot be written: {}; {}", path.string(), std::strerror(error), next);
}

}  // namespace

int open_result(const std::filesystem::path& trace, const char* name)
{
    const std::filesystem::path path = trace / directory_name / name;
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    const int error = errno;
    if (error != ENOENT && error != ENOTDIR)
        fail(ExitCode::Failed, "{}: cannot be read: {}; check its permissions", path.string(), std::strerror(error));
    std::error_code ignored;
    if (!std::filesystem::is_directory(trace, ignored))
        fail(ExitCode::BadTrace, "{}: no such trace; give the directory that cpcollect made", trace.string());
    if (std::filesystem::exists(database_path(trace), ignored))
        fail(ExitCode::BadTrace, "{}: is missing; run again: mpirun -n N cpreplay {}", path.string(),
             shell_quoted(trace.string()));
    fail(ExitCode::BadTrace, "{}: no result yet; run: mpirun -n N cpreplay {}", trace.string(),
         shell_quoted(trace.string()));
}

std::vector<unsigned char> read_file(const std::filesystem::path& trace, const char* name)
{
    const Descriptor file(open_result(trace, name));
    std::vector<unsigned char> bytes;
    struct stat status {
    };
    if (::fstat(file.get(), &status) == 0 && status.st_size > 0)
        bytes.reserve(static_cast<std::size_t>(status.st_size));
    std::array<unsigned char, 1 << 16> buffer{};
    while (true) {
        const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
        if (got == 0)
            return bytes;
        if (got > 0)
            bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + got);
        else if (errno != EINTR)
            fail(ExitCode::Failed, "{}: cannot be read: {}; give the directory of a trace",
                 (trace / directory_name / name).string(), std::strerror(errno));
    }
}

void replace_file(const std::filesystem::path& path, std::span<const unsigned char> bytes,
                  const std::function<void()>& before)
{
    std::filesystem::path temporary = path;
    temporary += fmt::format(".{}.tmp", ::getpid());
    Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.get() < 0)
        fail_to_write(path, errno);
    int error = write_all(file.get(), bytes);
    if (!file.close() && error == 0)
        error = errno;
    try {
        if (error == 0 && before)
            before();
    } catch (...) {
        ::unlink(temporary.c_str());
        throw;
    }
    if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0)
        error = errno;
    if (error != 0) {
        ::unlink(temporary.c_str());
        fail_to_write(path, error);
    }
}

}  // namespace critpath::result

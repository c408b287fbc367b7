// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/spool_copy.hpp"

#include "formats/support/error.hpp"

#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace critpath::archive
{

namespace fs = std::filesystem;

namespace
{

class File
{
public:
    /// `exists()` is false if there is no such file; throws for every other error.
    File(const std::string& path, int flags) : path_(path), fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666))
    {
        if (fd_ < 0 && errno != ENOENT) {
            throw_errno("{}", path_);
        }
    }
    ~File()
    {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    [[nodiscard]] bool exists() const { return fd_ >= 0; }

    [[nodiscard]] std::size_t read(std::span<char> bytes) const
    {
        for (;;) {
            const ssize_t count = ::read(fd_, bytes.data(), bytes.size());
            if (count >= 0) {
                return static_cast<std::size_t>(count);
            }
            if (errno != EINTR) {
                throw_errno("{}", path_);
            }
        }
    }

    void write(std::span<const char> bytes) const
    {
        while (!bytes.empty()) {
            const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
            if (count < 0 && errno != EINTR) {
                fail(ExitCode::Failed,
                     "{}: {}; what may still be written is copied first: make room, or wait until the application has "
                     "ended",
                     path_, std::strerror(errno));
            }
            bytes = bytes.subspan(count > 0 ? static_cast<std::size_t>(count) : 0);
        }
    }

private:
    const std::string& path_;
    int fd_;
};

/// From its beginning on: the writer puts into the end of a file what its beginning held before.
void copy_now(const fs::path& from, const fs::path& to)
{
    const File source(from.native(), O_RDONLY | O_NONBLOCK);
    if (!source.exists()) {
        return;
    }
    const File copy(to.native(), O_WRONLY | O_CREAT | O_EXCL);
    std::vector<char> buffer(std::size_t{1} << 20);
    while (const std::size_t count = source.read(buffer)) {
        copy.write(std::span(buffer).first(count));
    }
}

}  // namespace

SpoolCopy::SpoolCopy(const fs::path& spool) : spool_(spool), copies_(spool / spool_copy_name)
{
    std::error_code error;
    if (fs::remove_all(copies_, error) == static_cast<std::uintmax_t>(-1)) {
        fail(ExitCode::Failed, "{}: cannot be removed: {}; check the permissions", copies_.native(), error.message());
    }
}

SpoolCopy::~SpoolCopy()
{
    std::error_code ignored;
    fs::remove_all(copies_, ignored);
}

void SpoolCopy::add(std::int32_t rank, const std::vector<std::uint32_t>& threads)
{
    std::error_code error;
    fs::create_directory(copies_, error);
    if (error) {
        fail(ExitCode::Failed, "{}: {}; check the permissions", copies_.native(), error.message());
    }
    const auto copy = [&](const std::string& name) { copy_now(spool_ / name, copies_ / name); };
    for (const std::uint32_t thread : threads) {
        for (const char* kind : {"calls", "samples"}) {
            copy(fmt::format("{}.{}.{}", rank, thread, kind));
        }
    }
    // What is mapped is known by then to those who map more.
    for (const char* kind : {"maps", "unloads"}) {
        copy(fmt::format("{}.{}", rank, kind));
    }
    ranks_.insert(rank);
}

}  // namespace critpath::archive

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/mapping.hpp"

#include "formats/support/error.hpp"

#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace critpath::archive
{

namespace
{

// An open file and its size.
class File
{
public:
    explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))
    {
        if (fd_ < 0 && errno != ENOENT) {
            throw_errno("{}", path);
        }
        struct stat status {
        };
        if (fd_ >= 0 && ::fstat(fd_, &status) != 0) {
            const int error = errno;
            ::close(fd_);
            errno = error;
            throw_errno("{}", path);
        }
        size_ = static_cast<std::size_t>(status.st_size);
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
    [[nodiscard]] int fd() const { return fd_; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    int fd_;
    std::size_t size_ = 0;
};

}  // namespace

std::optional<Mapping> Mapping::open(const std::string& path)
{
    const File file(path);
    if (!file.exists()) {
        return std::nullopt;
    }
    const std::size_t size = file.size();
    if (size == 0) {
        return Mapping(nullptr, 0);
    }
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd(), 0);
    if (data == MAP_FAILED) {
        throw_errno("{}", path);
    }
    ::madvise(data, size, MADV_SEQUENTIAL);
    return Mapping(static_cast<const std::byte*>(data), size);
}

Mapping::~Mapping()
{
    if (data_ != nullptr) {
        ::munmap(const_cast<std::byte*>(data_), size_);
    }
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0))
{
}

Mapping& Mapping::operator=(Mapping&& other) noexcept
{
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

}  // namespace critpath::archive

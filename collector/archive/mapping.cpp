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

struct Descriptor {
    int fd;
    ~Descriptor() { ::close(fd); }
};

}  // namespace

std::optional<Mapping> Mapping::open(const std::string& path)
{
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ENOENT) {
            return std::nullopt;
        }
        throw_errno("{}", path);
    }
    const Descriptor owner{fd};
    struct stat status {
    };
    if (::fstat(fd, &status) != 0) {
        throw_errno("{}", path);
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) {
        return Mapping(nullptr, 0);
    }
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
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

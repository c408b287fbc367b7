// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/input_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace critpath::otf2
{

namespace
{
constexpr std::uint8_t big_endian = 0x23;
}

bool is_there(const std::filesystem::path& name)
{
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(name, error);
    if (std::filesystem::exists(status)) {
        return true;
    }
    if (status.type() != std::filesystem::file_type::not_found) {
        fail(ExitCode::BadTrace, "{}: cannot be looked at: {}; check the permissions of the directories above it",
             name.string(), error.message());
    }
    const std::filesystem::path parent = name.parent_path();
    if (std::filesystem::exists(parent, error) && !std::filesystem::is_directory(parent, error)) {
        fail(ExitCode::BadTrace, "{}: not a directory; {}", parent.string(), retry);
    }
    return false;
}

/// (O_NONBLOCK: of a pipe that nobody writes to, too, one knows at once that it is not a file.)
InputFile::InputFile(const std::filesystem::path& name, std::uint64_t chunk_size)
    : name_(name), chunk_size_(chunk_size), fd_(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))
{
    struct stat status {
    };
    if (fd_ < 0) {
        const int error = errno;
        fail(ExitCode::BadTrace, "{}: cannot be opened: {}; check its permissions", name.string(),
             std::strerror(error));
    }
    if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(fd_);
        fail(ExitCode::BadTrace, "{}: not a file; {}", name.string(), retry);
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile()
{
    ::close(fd_);
}

std::optional<Chunk> InputFile::read_chunk(std::uint64_t begin, std::uint64_t most, ChunkMemory& memory) const
{
    const std::uint64_t size = std::min(most, size_ - begin);
    memory.resize(std::max<std::uint64_t>(memory.size(), size + ByteReader::slack));
    const auto bytes = std::span(memory).first(size);
    read(begin, bytes);
    if (size < head_size || bytes[0] != mark::chunk_head || (bytes[1] != little_endian && bytes[1] != big_endian)) {
        return {};
    }
    ByteReader records(bytes.subspan(2), bytes[1] == big_endian);
    const auto first = records.whole<std::uint64_t>();
    const auto last = records.whole<std::uint64_t>();
    return Chunk{first, last, records};
}

/// The bytes from `begin` on.
void InputFile::read(std::uint64_t begin, std::span<std::uint8_t> bytes) const
{
    while (!bytes.empty()) {
        const ssize_t got = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(begin));
        if (got > 0) {
            begin += static_cast<std::uint64_t>(got);
            bytes = bytes.subspan(static_cast<std::size_t>(got));
        } else if (got == 0 || errno != EINTR) {
            damaged("cannot be read: {}", got == 0 ? "it became shorter" : std::strerror(errno));
        }
    }
}

}  // namespace critpath::otf2

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/spool_packing.hpp"

#include "formats/spool/packed.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace critpath::preload
{

namespace
{

constexpr std::size_t record_bytes = sizeof(spool::Record);
constexpr std::size_t records_per_frame = 32768;  // what a reader holds at a time: 2 MiB, whole pages
constexpr std::size_t frame_room = sizeof(spool::FrameHeader) + records_per_frame * spool::largest_packed;

// Memory of the kernel's, also from a file.
class Memory
{
public:
    explicit Memory(std::size_t bytes)
        : address_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), bytes_(bytes)
    {
    }
    Memory(int fd, std::uint64_t offset, std::size_t bytes)  // `offset`: of a page
        : address_(mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset))), bytes_(bytes)
    {
    }
    ~Memory()
    {
        if (*this) {
            munmap(address_, bytes_);
        }
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    explicit operator bool() const { return address_ != MAP_FAILED; }
    [[nodiscard]] unsigned char* data() const { return static_cast<unsigned char*>(address_); }

private:
    void* address_;
    std::size_t bytes_;
};

class PackedFile
{
public:
    PackedFile(const char* path, const spool::SpoolHeader& header)
    {
        struct stat status;
        fd_ = path[0] == '\0' ? -1 : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd_ < 0 || fstat(fd_, &status) != 0) {
            return;
        }
        // A file of which not even the header stands was left by a disk that was full for a moment.
        end_ = std::max<std::uint64_t>(static_cast<std::uint64_t>(status.st_size), spool::header_size);
        good_ = static_cast<std::uint64_t>(status.st_size) > spool::header_size || write_at(0, &header, sizeof header);
    }
    ~PackedFile()
    {
        if (fd_ >= 0) {
            close(fd_);
        }
    }
    PackedFile(const PackedFile&) = delete;
    PackedFile& operator=(const PackedFile&) = delete;

    [[nodiscard]] bool good() const { return good_; }

    // The bytes first, then the header that makes them count. `frame` begins with room for it.
    bool append(unsigned char* frame, std::size_t bytes, std::uint64_t first, std::size_t records)
    {
        spool::FrameHeader header{};
        header.magic = spool::frame_magic;
        header.first = first;
        header.records = static_cast<std::uint32_t>(records);
        header.bytes = static_cast<std::uint32_t>(bytes);
        if (!write_at(end_ + sizeof header, frame + sizeof header, bytes) || !write_at(end_, &header, sizeof header)) {
            // Frames are found from one to the next, so nothing may stand behind the last whole one.
            [[maybe_unused]] const int ignored = ftruncate(fd_, static_cast<off_t>(end_));
            return false;
        }
        end_ += sizeof header + bytes;
        return true;
    }

private:
    // A write beyond the limit of file sizes would raise a signal in the application, so we ask first.
    [[nodiscard]] static bool allowed(std::uint64_t end)
    {
        rlimit limit;
        return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur;
    }

    [[nodiscard]] bool write_at(std::uint64_t offset, const void* data, std::size_t size) const
    {
        const auto* bytes = static_cast<const unsigned char*>(data);
        if (!allowed(offset + size)) {
            return false;
        }
        while (size > 0) {
            const ssize_t written = pwrite(fd_, bytes, size, static_cast<off_t>(offset));
            if (written < 0 && errno == EINTR) {
                continue;
            }
            if (written <= 0) {
                return false;
            }
            bytes += written;
            size -= static_cast<std::size_t>(written);
            offset += static_cast<std::uint64_t>(written);
        }
        return true;
    }

    int fd_ = -1;
    bool good_ = false;
    std::uint64_t end_ = 0;
};

}  // namespace

bool pack_records(int fd, const char* path, const spool::SpoolHeader& header, std::uint64_t first, std::uint64_t count)
{
    PackedFile file(path, header);
    const Memory frame(frame_room);
    const Memory expectation(sizeof(spool::Expectation));
    if (!file.good() || !frame || !expectation) {
        return false;
    }
    auto& expected = *reinterpret_cast<spool::Expectation*>(expectation.data());
    for (std::uint64_t done = 0; done < count;) {
        const std::size_t now = std::min<std::uint64_t>(records_per_frame, count - done);
        const Memory records(fd, spool::header_size + done * record_bytes, now * record_bytes);
        if (!records) {
            return false;
        }
        std::memset(static_cast<void*>(&expected), 0, sizeof expected);
        unsigned char* const begin = frame.data() + sizeof(spool::FrameHeader);
        unsigned char* out = begin;
        for (std::size_t i = 0; i < now; ++i) {
            out = spool::pack_record(expected, records.data() + i * record_bytes, out);
        }
        if (!file.append(frame.data(), static_cast<std::size_t>(out - begin), first + done, now)) {
            return false;
        }
        done += now;
    }
    return true;
}

}  // namespace critpath::preload

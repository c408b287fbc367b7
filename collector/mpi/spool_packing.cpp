// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/spool_packing.hpp"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace critpath::preload
{

namespace
{

// Returns 0 or an errno.
int write_at(int fd, std::uint64_t offset, const unsigned char* bytes, std::size_t size)
{
    while (size > 0) {
        const ssize_t written = pwrite(fd, bytes, size, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return written < 0 ? errno : ENOSPC;
        }
        bytes += written;
        size -= static_cast<std::size_t>(written);
        offset += static_cast<std::uint64_t>(written);
    }
    return 0;
}

}  // namespace

bool RecordPacker::reserve(std::size_t records)
{
    size_ = sizeof(spool::Expectation) + sizeof(spool::FrameHeader) + records * spool::largest_packed;
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory_ = memory == MAP_FAILED ? nullptr : memory;
    return memory_ != nullptr;
}

void RecordPacker::release()
{
    if (memory_ != nullptr) {
        munmap(memory_, size_);
        memory_ = nullptr;
    }
}

std::size_t RecordPacker::append(int fd, std::uint64_t offset, const void* records, std::size_t count,
                                 std::uint64_t first, int& why)
{
    auto* expected = static_cast<spool::Expectation*>(memory_);
    auto* frame = static_cast<unsigned char*>(memory_) + sizeof *expected;
    std::memset(memory_, 0, sizeof *expected);
    unsigned char* const begin = frame + sizeof(spool::FrameHeader);
    unsigned char* end = begin;
    for (std::size_t i = 0; i < count; ++i) {
        end =
            spool::pack_record(*expected, static_cast<const unsigned char*>(records) + i * sizeof(spool::Record), end);
    }
    spool::FrameHeader header{};
    header.magic = spool::frame_magic;
    header.first = first;
    header.records = static_cast<std::uint32_t>(count);
    header.bytes = static_cast<std::uint32_t>(end - begin);
    std::memcpy(frame, &header, sizeof header);
    const auto size = static_cast<std::size_t>(end - frame);
    why = file_may_grow_to(offset + size) ? write_at(fd, offset, frame, size) : EFBIG;
    if (why == 0) {
        return size;
    }
    // Frames are found from one to the next, so nothing may stand behind the last whole one.
    [[maybe_unused]] const int ignored = ftruncate(fd, static_cast<off_t>(offset));
    return 0;
}

bool file_may_grow_to(std::uint64_t size)
{
    rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

}  // namespace critpath::preload

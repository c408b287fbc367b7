// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/spool_packing.hpp"

#include "collector/sampling/descriptors.hpp"

#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace critpath::preload
{

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
    header.check = spool::checksum(begin, header.bytes);
    std::memcpy(frame, &header, sizeof header);
    const auto size = static_cast<std::size_t>(end - frame);
    why = sampling::write_at(fd, offset, frame, size);
    if (why == 0) {
        return size;
    }
    // Frames are found from one to the next, so nothing may stand behind the last whole one.
    [[maybe_unused]] const int ignored = ftruncate(fd, static_cast<off_t>(offset));
    return 0;
}

}  // namespace critpath::preload

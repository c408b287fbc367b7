// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/sample_file.hpp"

#include "collector/sampling/text.hpp"

#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace critpath::sampling
{
namespace
{

constexpr std::size_t memory_begin = std::size_t{256} << 10;
constexpr std::size_t memory_limit = std::size_t{64} << 20;  // a thread; minutes of samples

/// False also if the application has closed the file: its descriptor may be one of the application's by now.
bool write_all(const SampleFile& file, const void* data, std::size_t size, std::uint64_t offset)
{
    return is_file(file.fd, file.identity) && write_at(file.fd, offset, data, size) == 0;
}

/// Nothing more goes to this file; it ends with its last whole record.
void stop(SampleFile& file)
{
    file.stopped = true;
    if (is_file(file.fd, file.identity)) {
        [[maybe_unused]] const int ignored = ftruncate(file.fd, static_cast<off_t>(file.file_size));
    }
}

bool reserve_memory(SampleFile& file, std::size_t more)
{
    std::size_t size = file.memory_size == 0 ? memory_begin : file.memory_size;
    while (size < file.memory_used + more) {
        size *= 2;
    }
    if (size == file.memory_size) {
        return true;
    }
    if (size > memory_limit) {
        return false;
    }
    void* memory = file.memory == nullptr
                       ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : mremap(file.memory, file.memory_size, size, MREMAP_MAYMOVE);
    if (memory == MAP_FAILED) {
        return false;
    }
    file.memory = static_cast<char*>(memory);
    file.memory_size = size;
    return true;
}

bool append_to_memory(SampleFile& file, const Unread& unread)
{
    if (!reserve_memory(file, unread.size[0] + unread.size[1])) {
        return false;
    }
    for (int i = 0; i < 2; ++i) {
        std::memcpy(file.memory + file.memory_used, unread.piece[i], unread.size[i]);
        file.memory_used += unread.size[i];
    }
    file.memory_samples += unread.samples;
    return true;
}

bool append_to_file(SampleFile& file, const Unread& unread)
{
    if (!write_all(file, unread.piece[0], unread.size[0], file.file_size) ||
        !write_all(file, unread.piece[1], unread.size[1], file.file_size + unread.size[0])) {
        stop(file);
        return false;
    }
    file.file_size += unread.size[0] + unread.size[1];
    return true;
}

void move_memory_to_file(SampleFile& file)
{
    if (file.memory_used > 0 && !file.stopped) {
        if (write_all(file, file.memory, file.memory_used, file.file_size)) {
            file.file_size += file.memory_used;
        } else {
            file.lost += file.memory_samples;
            file.records = 0;
            stop(file);
        }
    }
    discard_memory(file);
}

int create(const char* directory, const spool::SpoolHeader& header)
{
    Text path;
    path << directory << "/" << header.rank << "." << header.thread << ".samples";
    return move_descriptor_up(open(path.path(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
}

bool write_header(const SampleFile& file, const spool::SpoolHeader& header)
{
    return write_all(file, &header, sizeof header, 0);
}

}  // namespace

void init_file(SampleFile& file)
{
    file = {};
    file.fd = -1;
}

void append_records(SampleFile& file, const Unread& unread)
{
    file.lost += unread.lost;
    if (unread.records == 0) {
        return;
    }
    const bool kept = !file.stopped && (file.fd >= 0 ? append_to_file(file, unread) : append_to_memory(file, unread));
    if (kept) {
        file.records += unread.records;
    } else {
        file.lost += unread.samples;
    }
}

Unread move_records(SampleFile& file, const PerfEvent& event)
{
    const Unread unread = peek_records(event);
    append_records(file, unread);
    release_records(event, unread);
    return unread;
}

void open_file(SampleFile& file, const char* directory, const spool::SpoolHeader& header)
{
    const int fd = create(directory, header);
    file.identity = identity_of(fd);
    file.fd = fd;
    constexpr char end_of_page = '\0';
    if (file.fd < 0 || !write_header(file, header) ||
        !write_all(file, &end_of_page, sizeof end_of_page, spool::header_size - 1)) {
        file.stopped = true;
        file.lost += file.memory_samples;
        file.records = 0;
    }
    file.file_size = spool::header_size;
    move_memory_to_file(file);
}

void close_file(SampleFile& file, spool::SpoolHeader& header)
{
    header.records = file.records;
    header.lost = file.lost;
    header.closed = 1;
    write_header(file, header);
    drop_file(file);
}

void drop_file(SampleFile& file)
{
    const int fd = file.fd;
    file.fd = -1;  // before the close, for the same reason as in close_event
    if (is_file(fd, file.identity)) {
        close(fd);
    }
}

void discard_memory(SampleFile& file)
{
    if (file.memory != nullptr) {
        munmap(file.memory, file.memory_size);
    }
    file.memory = nullptr;
    file.memory_used = file.memory_size = 0;
    file.memory_samples = 0;
}

}  // namespace critpath::sampling

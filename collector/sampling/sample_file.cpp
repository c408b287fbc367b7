// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/sampling/sample_file.hpp"

#include "collector/sampling/packer.hpp"
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

/// errno, or 0. EBADF also if the application has closed the file: its descriptor may be one of the application's by
/// now.
int write_all(const SampleFile& file, const void* data, std::size_t size, std::uint64_t offset)
{
    return is_file(file.fd, file.identity) ? write_at(file.fd, offset, data, size) : EBADF;
}

/// Nothing more goes to this file; it ends with its last whole record.
void stop(SampleFile& file, int error)
{
    file.stopped = true;
    file.error = error;
    if (is_file(file.fd, file.identity)) {
        [[maybe_unused]] const int ignored = ftruncate(file.fd, static_cast<off_t>(file.file_size));
    }
}

void* map(std::size_t size)
{
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

bool reserve_memory(SampleFile& file, std::size_t more)
{
    if (file.image == nullptr) {
        file.image = static_cast<spool::StackImage*>(map(sizeof *file.image));  // zeros, as it is to begin
    }
    std::size_t size = file.memory_size == 0 ? memory_begin : file.memory_size;
    while (size < file.memory_used + more) {
        size *= 2;
    }
    if (file.image == nullptr || size > memory_limit) {
        return false;
    }
    if (size == file.memory_size) {
        return true;
    }
    void* memory = file.memory == nullptr ? map(size) : mremap(file.memory, file.memory_size, size, MREMAP_MAYMOVE);
    if (memory == nullptr || memory == MAP_FAILED) {
        return false;
    }
    file.memory = static_cast<char*>(memory);
    file.memory_size = size;
    return true;
}

Packed append_to_memory(SampleFile& file, const EventChoice& choice, const Unread& unread)
{
    if (!reserve_memory(file, most_packed(unread))) {
        return {};
    }
    const Packed packed = pack_records(choice, unread, *file.image, file.memory + file.memory_used);
    file.memory_used += packed.bytes;
    return packed;
}

/// What is in memory goes to the open file; false if that did not work. If the application has closed it, it stays
/// where it is.
bool write_memory(SampleFile& file)
{
    if (!is_file(file.fd, file.identity)) {
        file.fd = -1;
        return true;
    }
    const std::size_t size = file.memory_used;
    file.memory_used = 0;
    file.memory_samples = 0;
    if (const int error = write_all(file, file.memory, size, file.file_size); error != 0) {
        stop(file, error);
        return false;
    }
    file.file_size += size;
    return true;
}

int open_path(const char* directory, const spool::SpoolHeader& header, int flags)
{
    Text path;
    path << directory << "/" << header.rank << "." << header.thread << ".samples";
    return move_descriptor_up(open(path.path(), O_RDWR | O_CLOEXEC | flags, 0666));
}

/// What was in memory has no file.
void lose_from_memory(SampleFile& file, std::uint64_t samples)
{
    file.lost += samples;
    file.samples -= samples;
    file.first_samples = file.first_samples < file.samples ? file.first_samples : file.samples;
}

/// Opens the file that the application has closed; what has waited in memory goes there.
void find_again(SampleFile& file, const spool::SpoolHeader& header)
{
    file.fd = open_path(file.directory, header, 0);
    const int error = file.fd < 0 ? errno : 0;
    const std::uint64_t samples = file.memory_samples;
    if (file.fd >= 0 && !is_file(file.fd, file.identity)) {
        close(file.fd);
        file.fd = -1;
    }
    if (file.fd < 0 || !write_memory(file)) {
        file.stopped = true;
        file.error = error != 0 ? error : file.error;
        lose_from_memory(file, samples);
    }
}

/// Those of the first period as samples of the thread's own: where that is none, the next sample stands for all of it.
std::uint64_t own_periods(std::uint64_t first, const spool::SampleFormat& format)
{
    return format.own_period != 0 ? first * format.first_period / format.own_period : 0;
}

/// A thread that gives way again and again loses records of that with its samples, and the kernel tells their sum only.
/// The event knows how many samples it should have had.
std::uint64_t lost_samples(const SampleFile& file, const spool::SampleFormat& format)
{
    const std::uint64_t lost = file.lost + own_periods(file.lost_first, format);
    // cpu-clock counts half as much again where a thread switches 150,000 times a second (Linux 6.18).
    const std::uint64_t counted = std::strcmp(format.event, "cpu-clock") == 0 ? format.time_running : format.counted;
    if (counted == 0 || format.own_period == 0) {
        return lost;
    }
    const std::uint64_t due = counted / format.own_period;
    const std::uint64_t kept = file.samples - file.first_samples + own_periods(file.first_samples, format);
    const std::uint64_t missing = due > kept ? due - kept : 0;
    return lost < missing ? lost : missing;
}

int write_header(const SampleFile& file, const spool::SpoolHeader& header)
{
    return write_all(file, &header, sizeof header, 0);
}

void append_records(SampleFile& file, const EventChoice& choice, const Unread& unread)
{
    file.lost += unread.lost;
    file.lost_first += unread.lost_first;
    if (unread.records == 0) {
        return;
    }
    const Packed packed = file.stopped ? Packed{} : append_to_memory(file, choice, unread);
    const bool kept = !file.stopped && (file.fd < 0 || write_memory(file));  // which may close it
    if (kept) {
        file.records += packed.records;
        file.samples += packed.samples;
        file.first_samples += packed.samples == unread.samples ? unread.first_samples : 0;
        file.memory_samples += file.fd < 0 ? packed.samples : 0;
    }
    file.lost += unread.samples - (kept ? packed.samples : 0);
}

}  // namespace

void init_file(SampleFile& file)
{
    file = {};
    file.fd = -1;
}

void append_record(SampleFile& file, const EventChoice& choice, const void* record, std::size_t bytes)
{
    Unread unread{};
    unread.piece[0] = static_cast<const char*>(record);
    unread.size[0] = bytes;
    unread.records = 1;
    append_records(file, choice, unread);
}

Unread move_records(SampleFile& file, const EventChoice& choice, const PerfEvent& event)
{
    const Unread unread = peek_records(event);
    append_records(file, choice, unread);
    release_records(event, unread);
    return unread;
}

void open_file(SampleFile& file, const char* directory, const spool::SpoolHeader& header)
{
    const int fd = open_path(directory, header, O_CREAT | O_TRUNC);
    const int opening = errno;
    file.identity = identity_of(fd);
    file.directory = directory;
    file.fd = fd;
    constexpr char end_of_page = '\0';
    file.error = fd < 0 ? opening : write_header(file, header);
    if (file.error == 0) {
        file.error = write_all(file, &end_of_page, sizeof end_of_page, spool::header_size - 1);
    }
    file.stopped = file.stopped || file.error != 0;
    file.file_size = spool::header_size;
    const std::uint64_t samples = file.memory_samples;
    if (file.stopped || !write_memory(file)) {
        lose_from_memory(file, samples);
        file.records = 0;
        discard_memory(file);
    }
}

bool is_to_be_found(const SampleFile& file)
{
    return !file.stopped && file.identity.inode != 0 && !is_file(file.fd, file.identity);
}

void close_file(SampleFile& file, spool::SpoolHeader& header)
{
    if (is_to_be_found(file)) {
        find_again(file, header);
    }
    header.records = file.records;
    header.lost = lost_samples(file, header.samples);
    header.closed = 1;
    write_header(file, header);
    drop_file(file);
    discard_memory(file);
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
    const SampleFile old = file;
    // First, so that the child of a fork() in between does not take what comes there later for ours.
    file.image = nullptr;
    file.memory = nullptr;
    file.memory_used = file.memory_size = 0;
    file.memory_samples = 0;
    if (old.memory != nullptr) {
        munmap(old.memory, old.memory_size);
    }
    if (old.image != nullptr) {
        munmap(old.image, sizeof *old.image);
    }
}

}  // namespace critpath::sampling

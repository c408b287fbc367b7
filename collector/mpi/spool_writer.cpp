// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/spool_writer.hpp"

#include "collector/mpi/clock.hpp"
#include "collector/mpi/spool_packing.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace critpath::preload
{

namespace
{

void* map_file(int fd, std::uint64_t offset, std::size_t bytes)
{
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
    if (memory == MAP_FAILED) {
        return nullptr;
    }
    madvise(memory, bytes, MADV_DONTFORK);  // a child must not write into its parent's records
    return memory;
}

// Returns 0 or an errno. Writing past RLIMIT_FSIZE would raise a signal in the application, so we ask first.
int reserve(int fd, std::uint64_t offset, std::size_t bytes)
{
    rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && offset + bytes > limit.rlim_cur) {
        return EFBIG;
    }
    int error;
    do {
        error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (error == EINTR);
    return error;
}

}  // namespace

int move_descriptor_up(int fd)
{
    rlimit limit;
    if (fd < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return fd;
    }
    constexpr rlim_t highest = 4096;  // the kernel copies the table at each fork
    const rlim_t top = limit.rlim_cur < highest ? limit.rlim_cur : highest;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(top - top / 4));
    if (moved < 0) {
        return fd;
    }
    ::close(fd);
    return moved;
}

int SpoolWriter::open(const char* path, const spool::SpoolHeader& header, const Limits& limits)
{
    fd_ = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) {
        return errno;
    }
    fd_ = move_descriptor_up(fd_);
    struct stat status;
    int error = fstat(fd_, &status) != 0 ? errno : reserve(fd_, 0, spool::header_size);
    device_ = status.st_dev;
    inode_ = status.st_ino;
    void* page = error == 0 ? map_file(fd_, 0, spool::header_size) : nullptr;
    if (page == nullptr) {
        error = error != 0 ? error : errno;
        ::close(fd_);
        fd_ = -1;
        return error;
    }
    std::memcpy(page, &header, sizeof header);
    header_ = static_cast<spool::SpoolHeader*>(page);
    limits_ = limits;
    name_packed_file(path);
    if (spool::header_size + limits_.window_bytes > limits_.file_bytes) {
        limits_.window_bytes = (limits_.file_bytes - spool::header_size) & ~(spool::header_size - 1);
    }
    offset_ = spool::header_size;
    if (!reserve_next_window()) {
        close(now(), true);
        return ENOSPC;
    }
    return 0;
}

// Beside the file, with another ending.
void SpoolWriter::name_packed_file(const char* path)
{
    constexpr char ending[] = ".packed";
    const char* dot = std::strrchr(path, '.');
    const std::size_t length = dot == nullptr ? std::strlen(path) : static_cast<std::size_t>(dot - path);
    if (length + sizeof ending <= sizeof packed_path_) {
        std::memcpy(packed_path_, path, length);
        std::memcpy(packed_path_ + length, ending, sizeof ending);
    }
}

bool SpoolWriter::is_our_file() const
{
    struct stat status;
    return fstat(fd_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

bool SpoolWriter::reserve_next_window()
{
    // An application may have closed every descriptor that it does not know, and opened others in their place.
    if (!is_our_file() || reserve(fd_, offset_, limits_.window_bytes) != 0) {
        return false;
    }
    void* window = map_file(fd_, offset_, limits_.window_bytes);
    if (window == nullptr) {
        return false;
    }
    drop_window();
    begin_ = next_ = static_cast<std::byte*>(window);
    end_ = begin_ + limits_.window_bytes;
    offset_ += limits_.window_bytes;
    return true;
}

void SpoolWriter::drop_window()
{
    if (begin_ != nullptr) {
        munmap(begin_, limits_.window_bytes);
    }
    begin_ = next_ = end_ = nullptr;
}

// At every moment the packed records and those of the file hold everything: the file is emptied when its records have
// been packed, and says last where it begins, so that a reader finds the packed records twice at worst.
bool SpoolWriter::pack()
{
    const std::uint64_t records = (offset_ - spool::header_size) / record_bytes;
    if (!is_our_file() || !pack_records(fd_, packed_path_, *header_, packed_, records) || !is_our_file()) {
        return false;
    }
    drop_window();
    if (ftruncate(fd_, static_cast<off_t>(spool::header_size)) != 0) {
        return false;
    }
    packed_ += records;
    header_->first_record = packed_;
    offset_ = spool::header_size;
    return true;
}

bool SpoolWriter::make_room()
{
    if (offset_ + limits_.window_bytes <= limits_.file_bytes) {
        return reserve_next_window();
    }
    __atomic_store_n(&packing_, true, __ATOMIC_SEQ_CST);
    const bool done = !__atomic_load_n(&full_, __ATOMIC_SEQ_CST) && pack() && reserve_next_window();
    __atomic_store_n(&packing_, false, __ATOMIC_RELEASE);
    return done;
}

bool SpoolWriter::advance()
{
    if (header_ == nullptr) {
        return false;
    }
    if (full_) {
        header_->lost = lost_ + 1;
        return false;
    }
    const int saved_errno = errno;
    const std::uint64_t begin = now();
    if (!make_room()) {
        full_ = true;
    }
    add_pause(begin, now());
    errno = saved_errno;
    return !full_;
}

void SpoolWriter::close(std::uint64_t thread_end, bool unmap)
{
    if (header_ == nullptr) {
        return;
    }
    __atomic_store_n(&full_, true, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&packing_, __ATOMIC_SEQ_CST)) {
        sched_yield();
    }
    header_->records = records_;
    header_->lost = lost_;
    header_->thread_end = thread_end;
    __atomic_store_n(&header_->closed, 1U, __ATOMIC_RELEASE);
    if (unmap) {
        munmap(header_, spool::header_size);
        drop_window();
        header_ = nullptr;
    }
    if (is_our_file()) {
        if (unmap &&
            ftruncate(fd_, static_cast<off_t>(spool::header_size + (records_ - packed_) * record_bytes)) != 0) {
            // The reserved rest stays: it is empty, and readers go by the header.
        }
        ::close(fd_);
    }
    fd_ = -1;
}

void SpoolWriter::abandon()
{
    if (fd_ >= 0) {
        ::close(fd_);
    }
    *this = SpoolWriter();
    full_ = true;
}

}  // namespace critpath::preload

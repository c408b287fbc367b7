// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/spool_writer.hpp"

#include "collector/mpi/clock.hpp"

#include <cerrno>
#include <new>

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

// Returns 0 or an errno.
int reserve(int fd, std::size_t bytes)
{
    int error;
    do {
        error = posix_fallocate(fd, 0, static_cast<off_t>(bytes));
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

int SpoolWriter::open(const char* path, const spool::SpoolHeader& header, std::size_t stage_bytes)
{
    const std::size_t stage = stage_bytes < record_bytes ? record_bytes : stage_bytes / record_bytes * record_bytes;
    if (std::strlen(path) >= sizeof path_) {
        return ENAMETOOLONG;
    }
    if (!file_may_grow_to(spool::header_size + stage)) {
        return EFBIG;
    }
    fd_ = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) {
        return errno;
    }
    std::strcpy(path_, path);
    fd_ = move_descriptor_up(fd_);
    struct stat status;
    int error = fstat(fd_, &status) != 0 ? errno : reserve(fd_, spool::header_size + stage);
    device_ = status.st_dev;
    inode_ = status.st_ino;
    void* memory = MAP_FAILED;
    if (error == 0) {
        memory = mmap(nullptr, spool::header_size + stage, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
        error = memory == MAP_FAILED || !packer_.reserve(stage / record_bytes) ? errno : 0;
    }
    if (error != 0) {
        ::close(fd_);
        fd_ = -1;
        return error;
    }
    madvise(memory, spool::header_size + stage, MADV_DONTFORK);  // a child must not write into its parent's records
    header_ = static_cast<spool::SpoolHeader*>(memory);
    begin_ = next_ = static_cast<std::byte*>(memory) + spool::header_size;
    end_ = begin_ + stage;
    file_end_ = spool::header_size + stage;
    std::memcpy(header_, &header, sizeof header);
    header_->stage_bytes = stage;
    return 0;
}

bool SpoolWriter::is_our_file() const
{
    struct stat status;
    return fstat(fd_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

// An application may have closed every descriptor that it does not know, and opened others in their place. Returns 0 or
// an errno.
int SpoolWriter::regain_file()
{
    if (is_our_file()) {
        return 0;
    }
    fd_ = ::open(path_, O_RDWR | O_CLOEXEC);
    if (fd_ < 0) {
        return errno;
    }
    fd_ = move_descriptor_up(fd_);
    if (!is_our_file()) {
        ::close(fd_);
        fd_ = -1;
        return ENOENT;
    }
    return 0;
}

// At every moment the frames and the stage hold everything: the stage is cleared when the frame stands, and only then
// the header says where it begins, so that a reader finds records in both at worst.
bool SpoolWriter::pack_stage()
{
    const auto count = static_cast<std::size_t>(end_ - begin_) / record_bytes;
    std::size_t bytes = 0;
    why_lost_ = regain_file();
    if (why_lost_ == 0) {
        bytes = packer_.append(fd_, file_end_, begin_, count, packed_, why_lost_);
    }
    if (bytes == 0) {
        return false;
    }
    clear_stage();
    file_end_ += bytes;
    packed_ += count;
    __atomic_store_n(&header_->first_record, packed_, __ATOMIC_RELEASE);
    return true;
}

// The first record first: readers stop there.
void SpoolWriter::clear_stage()
{
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(begin_), 0, __ATOMIC_SEQ_CST);
    std::memset(begin_, 0, static_cast<std::size_t>(end_ - begin_));
    next_ = begin_;
}

void SpoolWriter::drain()
{
    const int saved_errno = errno;
    const std::uint64_t begin = now();
    __atomic_store_n(&draining_, true, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&full_, __ATOMIC_SEQ_CST) && !pack_stage()) {
        full_ = true;
    }
    __atomic_store_n(&draining_, false, __ATOMIC_RELEASE);
    add_pause(begin, now());
    errno = saved_errno;
}

void SpoolWriter::lose()
{
    ++lost_;
    if (header_ != nullptr) {
        header_->lost = lost_;
    }
}

void SpoolWriter::close(std::uint64_t thread_end, bool unmap)
{
    if (header_ == nullptr) {
        return;
    }
    __atomic_store_n(&full_, true, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&draining_, __ATOMIC_SEQ_CST)) {
        sched_yield();
    }
    header_->records = records_;
    header_->lost = lost_;
    header_->thread_end = thread_end;
    __atomic_store_n(&header_->closed, 1U, __ATOMIC_RELEASE);
    const bool is_large = static_cast<std::size_t>(end_ - begin_) > small_stage;
    if (unmap) {
        munmap(header_, spool::header_size + static_cast<std::size_t>(end_ - begin_));
        header_ = nullptr;
        begin_ = next_ = end_ = nullptr;
        packer_.release();
    }
    if (is_our_file()) {
        if (unmap && packed_ == 0 && is_large &&
            ftruncate(fd_, static_cast<off_t>(spool::header_size + records_ * record_bytes)) != 0) {
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
    packer_.release();
    new (this) SpoolWriter();  // in place: the stack may be small
    full_ = true;
}

}  // namespace critpath::preload

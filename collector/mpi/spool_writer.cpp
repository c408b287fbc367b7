// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/mpi/spool_writer.hpp"

#include "collector/mpi/clock.hpp"

#include <cerrno>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
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

int SpoolWriter::open(const char* path, const spool::SpoolHeader& header, std::size_t stage_bytes)
{
    const std::size_t stage = stage_bytes < record_bytes ? record_bytes : stage_bytes / record_bytes * record_bytes;
    if (std::strlen(path) >= sizeof path_) {
        return ENAMETOOLONG;
    }
    if (!sampling::file_may_grow_to(spool::header_size + stage)) {
        return EFBIG;
    }
    fd_ = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0) {
        return errno;
    }
    std::strcpy(path_, path);
    fd_ = sampling::move_descriptor_up(fd_);
    identity_ = sampling::identity_of(fd_);
    int error = reserve(fd_, spool::header_size + stage);
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

// An application may have closed every descriptor that it does not know, and opened others in their place. Returns 0 or
// an errno.
int SpoolWriter::regain_file()
{
    if (sampling::is_file(fd_, identity_)) {
        return 0;
    }
    fd_ = sampling::open_quietly(path_, O_RDWR);
    if (fd_ < 0) {
        return errno;
    }
    fd_ = sampling::move_descriptor_up(fd_);
    if (!sampling::is_file(fd_, identity_)) {
        sampling::close_quietly(fd_);
        fd_ = -1;
        return ENOENT;
    }
    return 0;
}

// At every moment the frames and the stage hold everything: the stage is cleared when the frame stands, and only then
// the header says where it begins, so that a reader finds records in both at worst. A signal handler may leave this
// anywhere by a jump, and the next record then does all of it again: each step may be done twice, and the last makes it
// undone no more. Signals are not blocked, since they would go to a thread that the application does not expect.
bool SpoolWriter::pack_stage()
{
    const auto count = static_cast<std::size_t>(end_ - begin_) / record_bytes;
    if (__atomic_load_n(reinterpret_cast<std::uint64_t*>(begin_), __ATOMIC_SEQ_CST) != 0) {
        std::size_t bytes = 0;
        why_lost_ = regain_file();
        if (why_lost_ == 0) {
            bytes = packer_.append(fd_, file_end_, begin_, count, packed_, why_lost_);
        }
        if (bytes == 0) {
            return false;
        }
        next_file_end_ = file_end_ + bytes;
        next_packed_ = packed_ + count;
    }
    clear_stage();
    file_end_ = next_file_end_;
    packed_ = next_packed_;
    __atomic_store_n(&header_->first_record, packed_, __ATOMIC_SEQ_CST);
    __atomic_store_n(&next_, begin_, __ATOMIC_SEQ_CST);
    return true;
}

// The first record first: readers stop there.
void SpoolWriter::clear_stage()
{
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(begin_), 0, __ATOMIC_SEQ_CST);
    std::memset(begin_, 0, static_cast<std::size_t>(end_ - begin_));
}

void SpoolWriter::drain()
{
    if (header_ == nullptr || __atomic_load_n(&full_, __ATOMIC_RELAXED)) {
        return;
    }
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

// Whoever finds this thread in drain() waits for it, but not for ever: it may have left by a jump and not come back.
bool SpoolWriter::has_drained() const
{
    constexpr timespec moment = {0, 1'000'000};
    constexpr int patience = 1000;
    for (int moments = 0; __atomic_load_n(&draining_, __ATOMIC_SEQ_CST) && moments < patience; ++moments) {
        syscall(SYS_nanosleep, &moment, nullptr);  // which is no cancellation point
    }
    return !__atomic_load_n(&draining_, __ATOMIC_SEQ_CST);
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
    if (unmap && next_ == end_) {
        drain();  // again: a jump has left it, or a signal handler that has called exit() interrupts it
    }
    __atomic_store_n(&full_, true, __ATOMIC_SEQ_CST);
    const bool may_close_file = unmap || has_drained();
    header_->records = records();
    header_->lost = lost_;
    header_->thread_end = thread_end;
    sampling::read_thread_name(header_->tid, header_->thread_name);
    __atomic_store_n(&header_->closed, 1U, __ATOMIC_RELEASE);
    const bool is_large = static_cast<std::size_t>(end_ - begin_) > small_stage;
    const auto used = spool::header_size + static_cast<std::size_t>(next_ - begin_);
    if (unmap) {
        munmap(header_, spool::header_size + static_cast<std::size_t>(end_ - begin_));
        header_ = nullptr;
        begin_ = next_ = end_ = nullptr;
        packer_.release();
    }
    if (unmap && packed_ == 0 && is_large && sampling::is_file(fd_, identity_) &&
        ftruncate(fd_, static_cast<off_t>(used)) != 0) {
        // The reserved rest stays: it is empty, and readers go by the header.
    }
    if (may_close_file) {
        close_file();
    }
}

void SpoolWriter::close_file()
{
    const int fd = fd_;
    fd_ = -1;  // first, so that the child of a fork() in between closes nothing that is not ours
    if (sampling::is_file(fd, identity_)) {
        ::close(fd);
    }
}

void SpoolWriter::abandon()
{
    close_file();
    packer_.release();
    new (this) SpoolWriter();  // in place: the stack may be small
    full_ = true;
}

}  // namespace critpath::preload

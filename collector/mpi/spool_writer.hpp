// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns one thread's spool file while it is written: a mapped window that moves through the file. Each window's blocks
// are reserved before it is mapped, so that a full disk ends the recording of the thread instead of raising SIGBUS in
// the application. When the file has reached its bound, its records are packed (spool_packing.hpp) and it begins anew.
// No method is called by two threads at once, but for close() without `unmap`.
#pragma once

#include "formats/spool/record.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <limits.h>
#include <sys/types.h>

namespace critpath::preload
{

class SpoolWriter
{
public:
    /// Fewer system calls a record against fewer reserved bytes a thread; see bench/.
    static constexpr std::size_t default_window = std::size_t{2} << 20;

    struct Limits {
        std::uint64_t file_bytes = std::uint64_t{256} << 20;  // of the file, not of what has been packed
        std::size_t window_bytes = default_window;            // a multiple of the page size
    };

    /// Makes the file, which must not exist, writes `header` and maps the first window. The bound must leave room for a
    /// page of records. Returns 0, or an errno.
    int open(const char* path, const spool::SpoolHeader& header, const Limits& limits);

    [[nodiscard]] bool is_open() const { return header_ != nullptr; }

    /// Before the clock is read, so that a page of the file that is new does not cost the call anything.
    void touch()
    {
        if (next_ != end_) {
            __atomic_store_n(reinterpret_cast<std::uint32_t*>(next_), 0, __ATOMIC_RELAXED);
        }
    }

    /// The thread has entered `function`. Noted in the place of the next record, so that it is known should the call
    /// never end; the record itself, or a later one, takes its place.
    void enter_call(std::uint16_t function, std::uint64_t time)
    {
        if (next_ != end_) {
            auto* record = reinterpret_cast<spool::Record*>(next_);
            record->function = function;
            record->enter = time;
        }
    }

    /// Appends one record of 64 bytes whose first byte is its kind. Counts it as lost where there is no room.
    template <class Record>
    void append(const Record& record)
    {
        static_assert(sizeof(Record) == record_bytes);
        if (next_ == end_ && !advance()) {
            ++lost_;
            return;
        }
        // The first word holds the kind: a reader that sees it sees the rest.
        std::uint64_t first;
        std::memcpy(&first, &record, sizeof first);
        std::memcpy(next_ + sizeof first, reinterpret_cast<const std::byte*>(&record) + sizeof first,
                    record_bytes - sizeof first);
        __atomic_store_n(reinterpret_cast<std::uint64_t*>(next_), first, __ATOMIC_RELEASE);
        next_ += record_bytes;
        ++records_;
    }

    /// The record that was appended last, while it is mapped and may be changed in place; else nullptr.
    [[nodiscard]] spool::Record* last()
    {
        return next_ == begin_ ? nullptr : reinterpret_cast<spool::Record*>(next_ - record_bytes);
    }

    /// [begin, end] was the tool's own time; two pauses of one call are one.
    void add_pause(std::uint64_t begin, std::uint64_t end)
    {
        pause_begin_ = pause_end_ == 0 ? begin : pause_begin_;
        pause_end_ = end;
    }

    /// If the window has moved, or a pause was added, since the last question: when that began and ended, to be
    /// recorded as the tool's time.
    bool take_pause(std::uint64_t& begin, std::uint64_t& end)
    {
        if (pause_end_ == 0) {
            return false;
        }
        begin = pause_begin_;
        end = pause_end_;
        pause_end_ = 0;
        return true;
    }

    [[nodiscard]] std::uint64_t records() const { return records_; }
    [[nodiscard]] std::uint64_t lost() const { return lost_; }

    /// Completes the header. With `unmap` false the window stays mapped, because its thread may still be writing.
    void close(std::uint64_t thread_end, bool unmap);

    /// In the child of fork(): the windows are not mapped there; closes the descriptor and forgets the rest.
    void abandon();

private:
    static constexpr std::size_t record_bytes = 64;

    bool advance();
    bool make_room();
    bool reserve_next_window();
    bool pack();
    void drop_window();
    void name_packed_file(const char* path);
    [[nodiscard]] bool is_our_file() const;

    std::byte* begin_ = nullptr;
    std::byte* next_ = nullptr;
    std::byte* end_ = nullptr;
    spool::SpoolHeader* header_ = nullptr;
    Limits limits_;
    std::uint64_t offset_ = 0;  // of the window that comes next
    std::uint64_t records_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t pause_begin_ = 0;
    std::uint64_t pause_end_ = 0;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    int fd_ = -1;
    bool full_ = false;
    bool packing_ = false;             // another thread that wants to close must wait
    std::uint64_t packed_ = 0;         // records
    char packed_path_[PATH_MAX] = {};  // where they go; empty: nowhere
};

/// Moves `fd` out of the way of the application: to a high number, closed on exec. Returns the new descriptor, or
/// `fd` itself where no high number is free.
int move_descriptor_up(int fd);

}  // namespace critpath::preload

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns one thread's spool file while it is written. Records go to its stage, a mapped piece of the file that stays
// small enough for the processor's caches; whenever that is full, they are packed to the end of the file
// (spool_packing.hpp) and the stage begins anew. The stage's blocks are reserved before it is mapped, so that a full
// disk ends the recording of the thread instead of raising SIGBUS in the application. No method is called by two
// threads at once, but for close() without `unmap`.
#pragma once

#include "collector/mpi/spool_packing.hpp"
#include "collector/sampling/descriptors.hpp"
#include "formats/spool/record.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <limits.h>

namespace critpath::preload
{

class SpoolWriter
{
public:
    /// Bytes of a stage that are not given back to the file system when it is closed, which would take longer than all
    /// else that a short life costs.
    static constexpr std::size_t small_stage = 16384;

    /// Makes the file, which must not exist, writes `header` and maps the stage: `stage_bytes`, cut to whole records
    /// and at least one. Returns 0, or an errno.
    int open(const char* path, const spool::SpoolHeader& header, std::size_t stage_bytes);

    /// What the header says of the thread: its number in the process, the kernel's id of it, and when it began.
    void name_thread(std::int32_t thread, std::int64_t tid, std::uint64_t start)
    {
        header_->thread = thread;
        header_->tid = tid;
        header_->thread_start = start;
    }

    [[nodiscard]] bool is_open() const { return header_ != nullptr; }

    /// Before the clock is read, so that a page that is new, or far away, does not cost the call anything.
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

    /// What enter_call has noted since the last record; time 0: nothing.
    void entered(std::uint16_t& function, std::uint64_t& time) const
    {
        if (next_ != end_) {
            const auto* record = reinterpret_cast<const spool::Record*>(next_);
            function = record->function;
            time = record->enter;
        }
    }

    /// Appends one record of 64 bytes whose first byte is its kind. Counts it as lost where there is no room.
    template <class Record>
    void append(const Record& record)
    {
        static_assert(sizeof(Record) == record_bytes);
        if (next_ == end_) [[unlikely]] {
            drain();  // again: a jump may have come before it
            if (next_ == end_) {
                lose();
                return;
            }
        }
        // The first word holds the kind: a reader that sees it sees the rest.
        std::uint64_t first;
        std::memcpy(&first, &record, sizeof first);
        std::memcpy(next_ + sizeof first, reinterpret_cast<const std::byte*>(&record) + sizeof first,
                    record_bytes - sizeof first);
        __atomic_store_n(reinterpret_cast<std::uint64_t*>(next_), first, __ATOMIC_RELEASE);
        next_ += record_bytes;
        if (next_ == end_) {
            drain();
        }
    }

    /// Record `number`, counted from 1, while it is on the stage and may be changed in place; else nullptr.
    [[nodiscard]] spool::Record* on_stage(std::uint64_t number)
    {
        return number <= packed_ || number > records()
                   ? nullptr
                   : reinterpret_cast<spool::Record*>(begin_ + (number - packed_ - 1) * record_bytes);
    }

    /// [begin, end] was the tool's own time; two pauses of one call are one.
    void add_pause(std::uint64_t begin, std::uint64_t end)
    {
        pause_begin_ = pause_end_ == 0 ? begin : pause_begin_;
        pause_end_ = end;
    }

    /// If the stage was drained, or a pause was added, since the last question: when that began and ended, to be
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

    [[nodiscard]] std::uint64_t records() const
    {
        return packed_ + static_cast<std::size_t>(next_ - begin_) / record_bytes;
    }
    [[nodiscard]] std::uint64_t lost() const { return lost_; }

    /// Why: an errno. EFBIG is the limit on the size of files; ENOENT: somebody has removed or replaced the file.
    [[nodiscard]] int why_lost() const { return lost_ > 0 ? why_lost_ : 0; }

    /// Completes the header. With `unmap` false the stage stays mapped, because its thread may still be writing.
    void close(std::uint64_t thread_end, bool unmap);

    /// In the child of fork(): the stage is not mapped there; closes the descriptor and forgets the rest.
    void abandon();

private:
    static constexpr std::size_t record_bytes = 64;

    void drain();
    bool pack_stage();
    void clear_stage();
    [[nodiscard]] bool has_drained() const;
    void lose();
    int regain_file();
    void close_file();

    std::byte* begin_ = nullptr;
    std::byte* next_ = nullptr;
    std::byte* end_ = nullptr;
    spool::SpoolHeader* header_ = nullptr;  // the stage follows it
    std::uint64_t packed_ = 0;              // records
    std::uint64_t file_end_ = 0;            // where the next frame goes
    std::uint64_t next_packed_ = 0;         // both as they will be when the stage is cleared
    std::uint64_t next_file_end_ = 0;
    std::uint64_t lost_ = 0;
    int why_lost_ = 0;
    std::uint64_t pause_begin_ = 0;
    std::uint64_t pause_end_ = 0;
    RecordPacker packer_;
    sampling::FileIdentity identity_ = {};
    int fd_ = -1;
    bool full_ = false;
    bool draining_ = false;  // another thread that wants to close must wait
    char path_[PATH_MAX] = {};
};

}  // namespace critpath::preload

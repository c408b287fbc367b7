// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the way through a thread's records: those in frames, then those of the stage, as one sequence.
#pragma once

#include "formats/spool/record.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace critpath::archive
{

/// A call that a thread was in when its process ended.
struct OpenCall {
    std::uint16_t function = 0;
    std::uint64_t enter = 0;
};

class RecordCursor
{
public:
    /// `first`: SpoolHeader::first_record.
    explicit RecordCursor(std::span<const std::byte> stage, std::span<const std::byte> frames = {},
                          std::uint64_t first = 0);
    ~RecordCursor() = default;
    RecordCursor(RecordCursor&&) = default;
    RecordCursor& operator=(RecordCursor&&) = default;
    RecordCursor(const RecordCursor&) = delete;  // `block_` may be in `frame_`
    RecordCursor& operator=(const RecordCursor&) = delete;

    /// Kind of the record at the cursor; Empty at the end, which is also where a record makes no sense.
    [[nodiscard]] spool::RecordKind kind()
    {
        while (block_.size() < sizeof(spool::Record)) {
            if (!next_block()) {
                return spool::RecordKind::Empty;
            }
        }
        const auto kind = static_cast<spool::RecordKind>(block_.front());
        return kind <= spool::last_kind ? kind : spool::RecordKind::Empty;
    }

    /// The record at the cursor, which moves on. T must be the struct of kind().
    template <class T>
    T take()
    {
        const T record = peek<T>();
        skip();
        return record;
    }

    /// The same, but the cursor stays.
    template <class T>
    [[nodiscard]] T peek() const
    {
        static_assert(sizeof(T) == sizeof(spool::Record));
        T record;
        std::memcpy(static_cast<void*>(&record), block_.data(), sizeof record);
        return record;
    }

    void skip() { block_ = block_.subspan(sizeof(spool::Record)); }

    /// Where kind() is Empty: the call that the thread had entered, if that was after `leave`, the last leave of all.
    [[nodiscard]] std::optional<OpenCall> open_call(std::uint64_t leave) const;

    /// Where kind() is Empty: how many records are missing between the frames and the stage, which then is not read.
    [[nodiscard]] std::uint64_t missing() const { return missing_; }

    /// Where kind() is Empty: what stands behind the last frame that could be read.
    [[nodiscard]] std::span<const std::byte> unread_frames() const { return frames_; }

    /// kind() is Empty behind the first `records` at the latest. To be called at the beginning.
    void stop_behind(std::uint64_t records) { limit_ = records; }

private:
    bool next_block();
    void begin_block(std::span<const std::byte> records, std::uint64_t first);
    bool unpack_frame();

    std::span<const std::byte> block_;   // the rest of what is being read
    std::span<const std::byte> frames_;  // that come next
    std::span<const std::byte> stage_;
    std::uint64_t first_;     // number of the first record of `stage_`
    std::uint64_t next_ = 0;  // number of the first record behind those of the frames so far
    std::uint64_t missing_ = 0;
    std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
    bool in_stage_ = false;
    std::vector<std::byte> frame_;
};

}  // namespace critpath::archive

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/record_cursor.hpp"

#include "formats/functions/functions.hpp"
#include "formats/spool/packed.hpp"

#include <algorithm>

namespace critpath::archive
{

namespace
{

constexpr std::size_t record_bytes = sizeof(spool::Record);
// What the writer never exceeds; more is damage.
constexpr std::uint32_t most_records = 1U << 20;

}  // namespace

RecordCursor::RecordCursor(std::span<const std::byte> stage, std::span<const std::byte> frames, std::uint64_t first)
    : frames_(frames), stage_(stage), first_(first)
{
}

bool RecordCursor::next_block()
{
    if (in_stage_ || next_ >= limit_) {
        block_ = {};
        return false;
    }
    if (unpack_frame()) {
        return true;
    }
    in_stage_ = true;
    missing_ = first_ - std::min(next_, first_);
    if (missing_ > 0) {
        block_ = {};
        return false;
    }
    // A process that ended while it packed has left its stage as it was.
    const std::uint64_t again = next_ - first_;
    begin_block(again >= stage_.size() / record_bytes ? std::span<const std::byte>()
                                                      : stage_.subspan(again * record_bytes),
                next_);
    return true;
}

void RecordCursor::begin_block(std::span<const std::byte> records, std::uint64_t first)
{
    const std::uint64_t allowed = limit_ - std::min(limit_, first);
    block_ = allowed < records.size() / record_bytes ? records.first(allowed * record_bytes) : records;
}

bool RecordCursor::unpack_frame()
{
    spool::FrameHeader header;
    if (frames_.size() < sizeof header) {
        return false;
    }
    std::memcpy(&header, frames_.data(), sizeof header);
    if (header.magic != spool::frame_magic || header.first != next_ || header.records > most_records ||
        header.bytes > frames_.size() - sizeof header) {
        return false;
    }
    const auto* in = reinterpret_cast<const unsigned char*>(frames_.data()) + sizeof header;
    const auto* const end = in + header.bytes;
    if (spool::checksum(in, header.bytes) != header.check) {
        return false;
    }
    frame_.resize(header.records * record_bytes);
    spool::Expectation expected;
    for (std::size_t i = 0; i < header.records; ++i) {
        in = spool::unpack_record(expected, in, end, frame_.data() + i * record_bytes);
        if (in == nullptr) {
            return false;
        }
    }
    frames_ = frames_.subspan(sizeof header + header.bytes);
    begin_block(frame_, next_);
    next_ += header.records;
    return true;
}

std::optional<OpenCall> RecordCursor::open_call(std::uint64_t leave) const
{
    if (!in_stage_ || block_.size() < record_bytes ||
        static_cast<spool::RecordKind>(block_.front()) != spool::RecordKind::Empty) {
        return std::nullopt;
    }
    spool::Record record;
    std::memcpy(static_cast<void*>(&record), block_.data(), sizeof record);
    const bool makes_sense = record.function < static_cast<std::uint16_t>(functions::FunctionId::count);
    return makes_sense && record.enter > leave ? std::optional(OpenCall{record.function, record.enter}) : std::nullopt;
}

}  // namespace critpath::archive

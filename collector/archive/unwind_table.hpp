// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns where functions begin and end in a binary without symbols: the unwind information that every binary
// carries for exceptions (Linux Standard Base Core 5.0, "Exception Frames": .eh_frame and .eh_frame_hdr).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace critpath::archive
{

struct AddressRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;  // first address behind it
};

/// A loaded part of an ELF file: file bytes [offset, offset + size) are at `address`.
struct Segment {
    std::uint64_t address = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

class UnwindTable
{
public:
    UnwindTable() = default;

    /// `file` and `segments` must outlive the table. `header_address` is that of .eh_frame_hdr. A table that cannot
    /// be read is empty.
    UnwindTable(std::span<const std::byte> file, std::span<const Segment> segments, std::uint64_t header_address);

    /// The function that contains `address`, as far as the unwind information knows it.
    [[nodiscard]] std::optional<AddressRange> find(std::uint64_t address) const;

    /// Whether what begins at `start` has a frame there already, as no function has that is called.
    [[nodiscard]] bool begins_in_frame(std::uint64_t start) const;
    /// All of these, by address.
    [[nodiscard]] std::vector<AddressRange> all_in_frames() const;

private:
    struct Entry {
        std::int32_t start, frame;  // relative to the header
    };

    [[nodiscard]] std::span<const std::byte> bytes_at(std::uint64_t address) const;
    [[nodiscard]] Entry entry(std::size_t index) const;
    /// The one that begins last of those up to `address`.
    [[nodiscard]] std::optional<Entry> entry_before(std::uint64_t address) const;
    [[nodiscard]] std::uint64_t address_of(std::int32_t relative) const
    {
        return header_address_ + static_cast<std::uint64_t>(std::int64_t{relative});
    }

    /// What a frame description says.
    struct Description {
        std::uint64_t length = 0;                      // of the function
        std::span<const std::byte> instructions = {};  // of the unwinder
    };
    [[nodiscard]] std::optional<Description> description_at(std::uint64_t frame_address) const;
    /// How it encodes pointers, and whether it has augmentation data.
    struct Encoding {
        std::uint8_t pointer = 0;
        bool is_augmented = false;
    };
    [[nodiscard]] std::optional<Encoding> encoding_of(std::uint64_t common_address) const;

    std::span<const std::byte> file_;
    std::span<const Segment> segments_;
    std::uint64_t header_address_ = 0;
    std::span<const std::byte> entries_;
    std::size_t count_ = 0;
};

}  // namespace critpath::archive

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how values stand in the bytes of OTF2 files (libotf2 3.0.2, OTF2_Buffer.c, is where that is defined).
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

namespace critpath::otf2
{

/// Takes value after value from the bytes of a chunk, or of one record in it. A value that is not there, or not one of
/// its kind, is 0, and is_broken() from then on.
class ByteReader
{
public:
    /// So many bytes behind `bytes` must be memory that can be read; what they are does not matter.
    static constexpr std::size_t slack = 8;

    ByteReader(std::span<const std::uint8_t> bytes, bool big_endian)
        : at_(bytes.data()), end_(bytes.data() + bytes.size()), big_endian_(big_endian)
    {
    }

    [[nodiscard]] bool is_broken() const { return is_broken_; }
    [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

    [[gnu::always_inline]] std::uint8_t byte()
    {
        if (at_ == end_) {
            return none<std::uint8_t>();
        }
        return *at_++;
    }

    /// An integer with all of its bytes.
    template <std::unsigned_integral T>
    [[gnu::always_inline]] T whole()
    {
        if (sizeof(T) > left()) {
            return none<T>();
        }
        return static_cast<T>(integer(sizeof(T)));
    }

    /// An integer without its leading zero bytes, behind their number; that of all ones is 0xff alone.
    template <std::unsigned_integral T>
    [[gnu::always_inline]] T compressed()
    {
        const std::uint8_t size = byte();
        if (size == 0) {
            return 0;
        }
        if (size > sizeof(T) || size > left()) {
            return size == 0xff ? std::numeric_limits<T>::max() : none<T>();
        }
        return static_cast<T>(integer(size));
    }

    /// Steps over the content of a record. It is behind its length, which is one byte, or 0xff and eight bytes.
    [[gnu::always_inline]] ByteReader record()
    {
        std::uint64_t length = byte();
        if (length == 0xff) {
            length = whole<std::uint64_t>();
        }
        if (is_broken_ || length > left()) {
            is_broken_ = true;
            length = 0;
        }
        ByteReader content({at_, static_cast<std::size_t>(length)}, big_endian_);
        content.is_broken_ = is_broken_;
        at_ += length;
        return content;
    }

private:
    /// `size`: 1 to 8, and as many bytes are there.
    [[gnu::always_inline]] std::uint64_t integer(std::size_t size)
    {
        std::uint64_t value = 0;
        std::memcpy(&value, at_, sizeof value);
        at_ += size;
        const std::size_t unused = 64 - 8 * size;  // bits
        if (big_endian_ != (std::endian::native == std::endian::big)) {
            value = __builtin_bswap64(value);
        }
        return big_endian_ ? value >> unused : value << unused >> unused;
    }

    template <class T>
    T none()
    {
        is_broken_ = true;
        return 0;
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool big_endian_;
    bool is_broken_ = false;
};

}  // namespace critpath::otf2

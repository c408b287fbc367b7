// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how definitions travel between ranks: plain bytes in memory order. All ranks run the same library.
#pragma once

#include "formats/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace critpath::archive
{

class Packer
{
public:
    template <class T>
    requires std::is_trivially_copyable_v<T> Packer& operator<<(const T& value)
    {
        const auto* bytes = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
        return *this;
    }
    Packer& operator<<(const std::string& text)
    {
        *this << static_cast<std::uint64_t>(text.size());
        const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
        bytes_.insert(bytes_.end(), bytes, bytes + text.size());
        return *this;
    }

    std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

class Unpacker
{
public:
    explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

    template <class T>
    requires std::is_trivially_copyable_v<T> Unpacker& operator>>(T& value)
    {
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return *this;
    }
    Unpacker& operator>>(std::string& text)
    {
        const auto bytes = take(length());
        text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return *this;
    }

    /// A count of things that follow, each at least a byte long.
    std::size_t length()
    {
        std::uint64_t count = 0;
        *this >> count;
        if (count > rest_.size()) {
            fail_short();
        }
        return count;
    }

    [[nodiscard]] bool at_end() const { return rest_.empty(); }

private:
    std::span<const std::byte> take(std::size_t size)
    {
        if (size > rest_.size()) {
            fail_short();
        }
        const auto bytes = rest_.first(size);
        rest_ = rest_.subspan(size);
        return bytes;
    }
    [[noreturn]] static void fail_short() { fail(ExitCode::Failed, "definitions from another rank: cut short"); }

    std::span<const std::byte> rest_;
};

}  // namespace critpath::archive

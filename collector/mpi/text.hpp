// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns text without the C++ runtime, stdio or allocation: paths and messages in a fixed buffer that cuts what does
// not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace critpath::preload
{

class Text
{
public:
    Text& operator<<(const char* text)
    {
        const std::size_t length = std::strlen(text);
        const std::size_t room = capacity - 1 - size_;
        const std::size_t used = length < room ? length : room;
        std::memcpy(buffer_ + size_, text, used);
        size_ += used;
        buffer_[size_] = '\0';
        return *this;
    }

    Text& operator<<(std::uint64_t number)
    {
        char digits[24];
        std::size_t first = sizeof digits - 1;
        digits[first] = '\0';
        do {
            digits[--first] = static_cast<char>('0' + number % 10);
            number /= 10;
        } while (number != 0);
        return *this << &digits[first];
    }

    Text& operator<<(int number)
    {
        if (number < 0) {
            *this << "-";
        }
        return *this << static_cast<std::uint64_t>(number < 0 ? -static_cast<std::int64_t>(number) : number);
    }

    [[nodiscard]] const char* c_str() const { return buffer_; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    static constexpr std::size_t capacity = 6144;  // a path of PATH_MAX and a sentence around it
    std::size_t size_ = 0;
    char buffer_[capacity] = {};
};

}  // namespace critpath::preload

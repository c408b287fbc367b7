// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the putting together of short texts in a given buffer: no stdio, no allocation, always terminated, cut short
// if it does not fit.
#pragma once

#include <cstddef>

namespace critpath::sampling
{

class Text
{
public:
    Text(char* buffer, std::size_t size) : buffer_(buffer), size_(size) { buffer_[0] = '\0'; }

    Text& add(const char* text)
    {
        for (; *text != '\0' && length_ + 1 < size_; ++text) {
            buffer_[length_++] = *text;
        }
        buffer_[length_] = '\0';
        return *this;
    }

    Text& add(long number)
    {
        char digits[24];
        std::size_t at = sizeof digits - 1;
        digits[at] = '\0';
        unsigned long rest = number < 0 ? 0UL - static_cast<unsigned long>(number) : static_cast<unsigned long>(number);
        do {
            digits[--at] = static_cast<char>('0' + rest % 10);
            rest /= 10;
        } while (rest != 0);
        if (number < 0) {
            digits[--at] = '-';
        }
        return add(digits + at);
    }

    [[nodiscard]] std::size_t length() const { return length_; }

private:
    char* buffer_;
    std::size_t size_;
    std::size_t length_ = 0;
};

}  // namespace critpath::sampling

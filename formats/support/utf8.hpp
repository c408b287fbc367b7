// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is UTF-8 and what is not.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace critpath
{

struct CodePoint {
    char32_t value = 0;
    std::size_t bytes = 1;
    bool valid = false;
};

/// How many characters `text` begins with that are ASCII and printable: as most texts are from end to end.
inline std::size_t plain_characters(std::string_view text)
{
    const auto* const end = std::ranges::find_if(text, [](char c) { return c < ' ' || c > '~'; });
    return static_cast<std::size_t>(end - text.begin());
}

/// The character that `text` (not empty) begins with; an invalid one takes one byte.
inline CodePoint decode(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80)
        return {first, 1, true};
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length)
        return {};
    char32_t value = first & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80)
            return {};
        value = value << 6U | (byte(i) & 0x3FU);
    }
    constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < least[length] || value > 0x10FFFF || is_surrogate)
        return {};
    return {value, length, true};
}

}  // namespace critpath

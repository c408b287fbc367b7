// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/text.hpp"

#include "formats/support/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>

namespace critpath::report
{

namespace
{

struct Range {
    char32_t first;
    char32_t last;
};

template <std::size_t N>
bool is_in(const std::array<Range, N>& ranges, char32_t value)
{
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const Range& range) { return value >= range.first && value <= range.last; });
}

/// Coarse on purpose: names in these scripts are rare, and a wrong guess only shifts a column.
std::size_t width_of(char32_t value)
{
    constexpr std::array<Range, 8> none = {{{0x0300, 0x036F},
                                            {0x0483, 0x0489},
                                            {0x0591, 0x05BD},
                                            {0x064B, 0x065F},
                                            {0x1AB0, 0x1AFF},
                                            {0x200B, 0x200F},
                                            {0x20D0, 0x20FF},
                                            {0xFE00, 0xFE0F}}};
    constexpr std::array<Range, 9> twice = {{{0x1100, 0x115F},
                                             {0x2E80, 0x303E},
                                             {0x3041, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0x1F300, 0x1FAFF},
                                             {0x20000, 0x3FFFD}}};
    if (value < 0x300)
        return 1;
    return is_in(none, value) ? 0 : is_in(twice, value) ? 2 : 1;
}

/// Bytes of the longest beginning of `text` that takes at most `width` columns.
std::size_t bytes_in(std::string_view text, std::size_t width)
{
    std::size_t bytes = 0;
    while (bytes < text.size()) {
        const CodePoint point = decode(text.substr(bytes));
        const std::size_t columns = width_of(point.value);
        if (columns > width)
            break;
        width -= columns;
        bytes += point.bytes;
    }
    return bytes;
}

/// First byte of the shortest end of `text` that leaves out at least `width` columns.
std::size_t skip_columns(std::string_view text, std::size_t width)
{
    std::size_t bytes = 0;
    std::size_t skipped = 0;
    while (bytes < text.size() && skipped < width) {
        const CodePoint point = decode(text.substr(bytes));
        skipped += width_of(point.value);
        bytes += point.bytes;
    }
    return bytes;
}

std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = std::exchange(row[j + 1], std::min({change, row[j] + 1, row[j + 1] + 1}));
        }
    }
    return row.back();
}

}  // namespace

std::size_t display_width(std::string_view text)
{
    std::size_t width = 0;
    for (;;) {
        const std::size_t plain = plain_characters(text);
        width += plain;
        text.remove_prefix(plain);
        if (text.empty())
            return width;
        const CodePoint point = decode(text);
        width += point.valid ? width_of(point.value) : 1;
        text.remove_prefix(point.bytes);
    }
}

std::string shorten_middle(std::string_view text, std::size_t width)
{
    const std::size_t whole = display_width(text);
    if (whole <= width)
        return std::string(text);
    if (width == 0)
        return {};
    const std::size_t left = width / 2;
    const std::size_t right = width - 1 - left;
    const std::string_view head = text.substr(0, bytes_in(text, left));
    std::size_t tail = skip_columns(text, whole - right);
    return std::string(head).append(ellipsis).append(text.substr(tail));
}

std::string shorten_end(std::string_view text, std::size_t width)
{
    if (display_width(text) <= width)
        return std::string(text);
    return width == 0 ? std::string() : std::string(text.substr(0, bytes_in(text, width - 1))).append(ellipsis);
}

std::string_view basename(std::string_view path)
{
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

std::string command_line(std::string_view arguments, std::string_view trace)
{
    return fmt::format("cpreport {} {}", arguments, shell_word(trace));
}

std::string nearest_word(std::string_view typed, const std::vector<std::string>& words)
{
    const std::string* best = nullptr;
    std::size_t least = std::max<std::size_t>(1, typed.size() / 3);
    for (const std::string& word : words) {
        const bool begins = !typed.empty() && word.size() > typed.size() && word.compare(0, typed.size(), typed) == 0;
        const std::size_t distance = begins ? 0 : edit_distance(typed, word);
        if (distance < least || (distance == least && best == nullptr)) {
            least = distance;
            best = &word;
        }
    }
    return best == nullptr ? std::string() : *best;
}

}  // namespace critpath::report

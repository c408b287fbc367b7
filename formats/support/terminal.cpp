// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/support/terminal.hpp"

#include "formats/support/utf8.hpp"

namespace critpath
{

namespace
{

constexpr std::string_view replacement = "\xEF\xBF\xBD";

}  // namespace

std::string valid_utf8(std::string_view text, bool replace_controls)
{
    std::string result;
    result.reserve(text.size());
    for (;;) {
        const std::size_t plain = plain_characters(text);
        result += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty())
            return result;
        const CodePoint point = decode(text);
        const bool is_control = point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0) ||
                                (point.value >= 0x202A && point.value <= 0x202E) ||
                                (point.value >= 0x2066 && point.value <= 0x2069);
        if (!point.valid || (replace_controls && is_control))
            result += replacement;
        else
            result += text.substr(0, point.bytes);
        text.remove_prefix(point.bytes);
    }
}

std::string shell_quoted(std::string_view word)
{
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,@%=";
    if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos)
        return std::string(word);
    std::string quoted = "'";
    for (const char c : word) {
        if (c == '\'')
            quoted += "'\\''";
        else
            quoted += c;
    }
    return quoted + "'";
}

}  // namespace critpath

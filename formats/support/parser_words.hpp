// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how what CLI11 finds wrong with a command line is said in the words of the tools.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace critpath
{

/// `text`: what() of a CLI::ParseError. What our own validators say stays as it is.
inline std::string in_our_words(std::string_view text)
{
    const std::string_view option = text.substr(0, text.find(':'));
    if (text.find(": At Most 1 required but received ") != std::string_view::npos)
        return fmt::format("{}: may be given once only", option);
    if (text.find(": 1 required ") != std::string_view::npos && text.ends_with(" missing"))
        return fmt::format("{}: its value is missing", option);
    if (const std::string_view one = "The following argument was not expected: "; text.starts_with(one)) {
        const std::string_view word = text.substr(one.size());
        return fmt::format("{}: {}", word, word.starts_with('-') ? "no such option" : "one argument too many");
    }
    return std::string(text);
}

}  // namespace critpath

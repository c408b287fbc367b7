// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how names that somebody else has chosen come to a terminal and into lines for a shell.
#pragma once

#include <string>
#include <string_view>

namespace critpath
{

/// `text` as valid UTF-8; with `replace_controls` also without control characters, so that no name can steer the
/// terminal. What is not valid becomes U+FFFD.
std::string valid_utf8(std::string_view text, bool replace_controls);
inline std::string printable(std::string_view text)
{
    return valid_utf8(text, true);
}

/// `word` as one word of a POSIX shell.
std::string shell_quoted(std::string_view word);

/// The same, to be shown on a terminal, from where it is copied into a shell.
inline std::string shell_word(std::string_view word)
{
    return printable(shell_quoted(word));
}

}  // namespace critpath

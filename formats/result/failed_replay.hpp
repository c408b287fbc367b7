// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the mark beside a result that says that it is of an earlier replay, because the last one could not read the
// trace.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace critpath::result
{

/// Keeps why a replay of `trace` failed, if there is a result that this replay should have replaced. Returns whether
/// there is. Where the mark cannot be written there is none: what is lost is a word of warning.
bool mark_failed_replay(const std::filesystem::path& trace, std::string_view why) noexcept;

/// Takes the mark away: the result is that of the last replay. In vain where there is none.
void unmark_failed_replay(const std::filesystem::path& trace) noexcept;

/// Why the last replay failed whose result should stand in `trace`, on one line; nothing if it did not.
std::optional<std::string> failed_replay(const std::filesystem::path& trace);

}  // namespace critpath::result

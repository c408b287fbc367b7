// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the two ways in which a result file meets the disk: whole into memory, and whole and checked onto the disk.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <vector>

namespace critpath::result
{

/// The bytes of TRACE/critpath/`name`. Throws Failure(BadTrace) that says "no result yet" if TRACE has no such file,
/// Failure(Failed) if it cannot be read.
std::vector<unsigned char> read_file(const std::filesystem::path& trace, const char* name);

/// Replaces `path` by `bytes` in one step: readers see the old file or the new one. Calls `before` when the bytes are
/// written, right before that step. Throws Failure(Failed), or what `before` throws, and then nothing is left behind.
void replace_file(const std::filesystem::path& path, std::span<const unsigned char> bytes,
                  const std::function<void()>& before = {});

/// Opens TRACE/critpath/`name` for reading; the caller closes the descriptor. Throws as read_file(), and names the file
/// if it alone is missing.
int open_result(const std::filesystem::path& trace, const char* name);

}  // namespace critpath::result

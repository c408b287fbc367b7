// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how segments.bin is written: by all processes together, each its block of the path (formats/FORMAT.md).
#pragma once

#include "replayer/restore/restore.hpp"

#include <filesystem>

namespace critpath::replayer
{

/// Writes TRACE/critpath/segments.bin, under another name first. The functions of the segments must be rows already.
/// Collective over `replay.comm`. Throws Failure on all processes if a process cannot write.
void write_segments(const Replay& replay, const Path& path, const std::filesystem::path& trace);

}  // namespace critpath::replayer

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns critpath.sqlite: how a Profile becomes the database of aggregates and comes back (formats/FORMAT.md).
#pragma once

#include "analysis/model/profile.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>

namespace critpath::result
{

inline constexpr std::int64_t schema_version = 28;

/// Writes TRACE/critpath/critpath.sqlite, under another name first, so that readers see the old result or the new
/// one, never a part of it; makes the directory TRACE/critpath if needed. Called by one process. Equal profiles
/// give equal bytes. The facts `schema_version` and `checksum` are added here. Throws Failure(Failed) if the disk
/// is full or the directory cannot be written, and leaves no temporary file. Calls `before` when it is written, right
/// before it gets its name: what belongs to it is to get its own then.
void write(const std::filesystem::path& trace, const model::Profile& profile, const std::function<void()>& before = {});

/// Reads TRACE/critpath/critpath.sqlite. What comes back equals what was written (with the fact `schema_version`).
/// Throws Failure(BadTrace) if there is no result, if it is of an unknown version, or if it is damaged: a changed
/// file gives the same profile or none.
model::Profile read(const std::filesystem::path& trace);

}  // namespace critpath::result

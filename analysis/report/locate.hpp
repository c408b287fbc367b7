// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the search for the trace that the user means.
#pragma once

#include <filesystem>
#include <string>

namespace critpath::report
{

/// The directory of the trace that `argument` names: the directory itself, or its .otf2 file. Throws
/// Failure(BadTrace) if it is neither.
std::filesystem::path find_trace(const std::string& argument);

/// Whether it names one.
bool is_trace(const std::string& argument);

/// The trace in `directory` (itself, or below it by one level) whose result, or else whose anchor, was written
/// last. Throws Failure(Usage) if there is none.
std::filesystem::path newest_trace(const std::filesystem::path& directory);

}  // namespace critpath::report

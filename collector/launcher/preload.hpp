// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns how the preload library is found and what it is told through the environment.
#pragma once

#include "collector/launcher/environment.hpp"
#include "collector/launcher/options.hpp"

#include <filesystem>
#include <string>

namespace critpath::launcher
{

struct Libraries {
    std::filesystem::path preload;
    std::filesystem::path archive;
    std::string first = {};  // goes before ours: elf_file.hpp
};

/// Looks in CRITPATH_LIBDIR if that is set, else at the places relative to this program in build trees and
/// installations. Throws Failure(Failed) if they are missing or LD_PRELOAD cannot name them.
Libraries find_libraries();

/// Sets LD_PRELOAD and the CRITPATH_* variables. `trace` is empty for all but the process that has the directory,
/// and for that one if nothing can be written there.
void set_environment(const Libraries& libraries, const Options& options, const ProcessPlace& place,
                     const std::string& trace);

}  // namespace critpath::launcher

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns where a binary is read from that the process ran: mostly from the file with its name. If that was replaced or
// deleted during the run, then from what the process that reads it still has of it. If it was built anew after a run
// that is recovered, from nowhere.
#pragma once

#include "collector/archive/address_map.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace critpath::archive
{

struct ModuleFile {
    std::string path;              // of the file to read; empty: of none, but
    std::vector<std::byte> image;  // as it was loaded: without symbols. Empty: there is nothing
    bool is_lost = false;          // a file had more to tell
};

/// `range`: a part of a module with a path. `is_own`: the map is that of this process.
ModuleFile find_module(const AddressMap& map, const MappedRange& range, bool is_own);

/// A binary of this process as it was loaded: the parts of its file that nothing was written to, each where it is in
/// the file. Empty if the loader does not know `address`.
std::vector<std::byte> loaded_image(std::uint64_t address);

}  // namespace critpath::archive

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the search for the file that a binary's symbols and debug information were moved to.
#pragma once

#include "formats/binary/elf_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace critpath::binary
{

/// Where the user keeps debug files: the directories of CRITPATH_DEBUG_PATH, which colons separate.
std::vector<std::filesystem::path> debug_directories();

/// The debug file of the binary that stood at `path` with `build_id` (in hex; empty: none). `binary` is that file, or
/// empty where it is gone or another one by now. Looked for by build-id in `directories` and below /usr/lib/debug, as
/// <name>.debug (or as a copy of the binary) in `directories`, and by the debug link next to the binary, in .debug
/// there, and in both of the former. A file is taken only if it has the build-id; or, where one of both has none, the
/// checksum that the debug link says. nullptr if there is none.
std::unique_ptr<ElfFile> find_debug_file(const std::filesystem::path& path, const std::string& build_id,
                                         const ElfFile& binary, std::span<const std::filesystem::path> directories);

/// One that stands where it is looked for, and is not taken.
struct RefusedDebugFile {
    std::filesystem::path path;
    std::string why;  // half a sentence
};

/// Those that find_debug_file passes by, where it finds none.
std::vector<RefusedDebugFile> refused_debug_files(const std::filesystem::path& path, const std::string& build_id,
                                                  const ElfFile& binary,
                                                  std::span<const std::filesystem::path> directories);

/// The checksum of debug links: CRC-32 as in ISO 3309 and zlib.
std::uint32_t crc32(std::span<const std::byte> bytes);

}  // namespace critpath::binary

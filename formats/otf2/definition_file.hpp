// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the records of a file of definitions: that they follow each other without a gap to its end. Of the global ones
// this is checked before libotf2 sees them. Where a file ends too early it goes on with what was in its memory before,
// a count of members that was damaged makes it read far beyond a record, and it can go round in circles between two
// chunks; none of this is an error to it.
#pragma once

#include "formats/otf2/input_file.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>

namespace critpath::otf2
{

/// Takes the content of a record by its type. Whether it is whole.
using TakeDefinition = std::function<bool(std::uint8_t type, ByteReader content)>;

/// Goes over the records of a file that is divided into chunks of `chunk_size` bytes. Throws Failure(BadTrace) that
/// names the file if it cannot be read, or if it or a record is not whole.
void read_definition_file(const std::filesystem::path& file, std::uint64_t chunk_size, ChunkMemory& memory,
                          const TakeDefinition& take);

/// The file of the global definitions: it is whole, and no record counts more members than it has room for. Throws
/// likewise.
void check_definition_file(const std::filesystem::path& file, std::uint64_t chunk_size, ChunkMemory& memory);

}  // namespace critpath::otf2

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what is checked of the files of an archive before libotf2 sees them: that they are whole. Where a file ends too
// early libotf2 goes on with what was in its memory before, a count of members that was damaged makes it read far
// beyond a record, and it can go round in circles between two chunks; none of this is an error to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace critpath::otf2
{

/// What the byte for the order of bytes is in files whose integers have the least significant one first.
inline constexpr std::uint8_t little_endian = 0x42;

/// Whether there is anything of that name. Throws Failure(BadTrace) if that cannot be known, or if what should be its
/// directory is none.
bool is_there(const std::filesystem::path& name);

/// What a check reads; the next one uses it again, since many files are small.
using CheckMemory = std::vector<std::uint8_t>;

/// The event file of a location, for which the definitions promise so many events: it is divided into chunks of
/// `chunk_size` bytes that together hold these events, and the last chunk is whole to its end. Reads no more than the
/// heads of the other chunks. Throws Failure(BadTrace) that names the file if not, or if it cannot be read.
void check_event_file(const std::filesystem::path& file, std::uint64_t chunk_size, std::uint64_t promised,
                      CheckMemory& memory);

/// A file of definitions, global or of a location: its records follow each other without a gap to the end of the file,
/// and no record counts more members than it has room for. Throws likewise.
enum class Definitions : std::uint8_t { Global, Local };
void check_definition_file(const std::filesystem::path& file, std::uint64_t chunk_size, Definitions kind,
                           CheckMemory& memory);

/// What is said of a damaged file after its cause.
inline constexpr const char* retry = "record the application again, or copy the trace again";

}  // namespace critpath::otf2

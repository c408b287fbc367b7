// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns reading the event file of a location. It is done here and not by libotf2, which takes several times as long for
// an event, clears half a megabyte of memory for each file, and trusts what it reads.
#pragma once

#include "formats/otf2/events.hpp"
#include "formats/otf2/input_file.hpp"
#include "formats/otf2/local_definitions.hpp"

#include <cstdint>
#include <filesystem>

namespace critpath::otf2
{

/// Delivers all events of a file, for which the definitions promise so many, in its order. It is divided into chunks of
/// `chunk_size` bytes. Throws Failure(BadTrace) that names the file if it is not whole, has not the promised number of
/// events, or if an event ends before its values; what comes before has been delivered then.
void read_event_file(const std::filesystem::path& file, std::uint64_t chunk_size, std::uint64_t promised,
                     const LocalDefinitions& local, ChunkMemory& memory, EventHandler& handler);

/// Whether the file of a location is what a writer should have left: it has the promised events in its chunks, and the
/// last chunk is whole to its end. Reads no more than the heads of the other chunks. Throws likewise.
void check_event_file(const std::filesystem::path& file, std::uint64_t chunk_size, std::uint64_t promised,
                      ChunkMemory& memory);

}  // namespace critpath::otf2

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the definitions that go with the events of one location: what its references are, and how its clock went.
#pragma once

#include "formats/otf2/events.hpp"
#include "formats/otf2/input_file.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace critpath::otf2
{

/// What the references of one kind in the events of a location are in the global definitions (MappingTable). Those that
/// are not in it stay as they are.
class ReferenceMap
{
public:
    /// `globals` of the references from 0 on.
    explicit ReferenceMap(std::vector<std::uint64_t> globals) : dense_(std::move(globals)) {}
    /// Pairs of the reference in the events and the global one. Of those that begin alike, the first counts.
    explicit ReferenceMap(std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs);

    [[nodiscard]] std::uint64_t operator()(std::uint64_t reference) const
    {
        if (reference < dense_.size()) {
            return dense_[reference];
        }
        return sparse_.empty() ? reference : find(reference);
    }

private:
    [[nodiscard]] std::uint64_t find(std::uint64_t reference) const;

    std::vector<std::uint64_t> dense_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> sparse_;  // in order
};

struct LocalDefinitions {
    std::array<std::optional<ReferenceMap>, OTF2_MAPPING_MAX> maps;  // by OTF2_MappingType
    std::vector<definition::ClockOffset> clock_offsets;              // in order of time
};

/// Reads the file of a location's definitions, which is divided into chunks of `chunk_size` bytes. Other definitions
/// in it say nothing of events. Throws Failure(BadTrace) that names the file if it is not whole, if a table has no room
/// for its entries or is there twice, or if clock offsets do not follow each other.
LocalDefinitions read_local_definitions(const std::filesystem::path& file, std::uint64_t chunk_size,
                                        ChunkMemory& memory);

}  // namespace critpath::otf2

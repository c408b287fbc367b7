// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/local_definitions.hpp"

#include "formats/otf2/definition_file.hpp"

#include <algorithm>
#include <bit>

namespace critpath::otf2
{

namespace
{

namespace type
{
constexpr std::uint8_t mapping_table = 5;
constexpr std::uint8_t clock_offset = 6;
}  // namespace type

/// Number of entries, how they are written, and the entries. Broken if it has no room for them.
std::optional<ReferenceMap> read_map(ByteReader& content)
{
    const auto entries = content.compressed<std::uint64_t>();
    const std::uint8_t mode = content.byte();
    const bool is_sparse = mode == OTF2_ID_MAP_SPARSE;
    if (content.is_broken() || mode > OTF2_ID_MAP_SPARSE || entries > content.left() / (is_sparse ? 2 : 1)) {
        return {};
    }
    if (!is_sparse) {
        std::vector<std::uint64_t> globals(entries);
        std::ranges::generate(globals, [&] { return content.compressed<std::uint64_t>(); });
        return ReferenceMap(std::move(globals));
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs(entries);
    for (auto& [local, global] : pairs) {
        local = content.compressed<std::uint64_t>();
        global = content.compressed<std::uint64_t>();
    }
    return ReferenceMap(std::move(pairs));
}

/// Whether it is whole, and the only table of its kind.
bool add_table(ByteReader content, LocalDefinitions& local)
{
    const std::uint8_t what = content.byte();
    auto map = read_map(content);
    if (!map || content.is_broken() || what >= local.maps.size()) {
        return map && !content.is_broken();  // of kinds that we do not know there are no references either
    }
    const bool is_first = !local.maps[what];
    local.maps[what] = std::move(map);
    return is_first;
}

/// Whether it is whole, and later than those before.
bool add_clock_offset(ByteReader content, LocalDefinitions& local)
{
    const auto time = content.whole<std::uint64_t>();
    const auto offset = std::bit_cast<std::int64_t>(content.compressed<std::uint64_t>());
    const auto deviation = std::bit_cast<double>(content.whole<std::uint64_t>());
    const bool is_later = local.clock_offsets.empty() || local.clock_offsets.back().time < time;
    local.clock_offsets.push_back({time, offset, deviation});
    return is_later && !content.is_broken();
}

}  // namespace

ReferenceMap::ReferenceMap(std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs) : sparse_(std::move(pairs))
{
    std::ranges::stable_sort(sparse_, {}, &std::pair<std::uint64_t, std::uint64_t>::first);
}

std::uint64_t ReferenceMap::find(std::uint64_t reference) const
{
    const auto found =
        std::ranges::lower_bound(sparse_, reference, {}, &std::pair<std::uint64_t, std::uint64_t>::first);
    return found != sparse_.end() && found->first == reference ? found->second : reference;
}

LocalDefinitions read_local_definitions(const std::filesystem::path& name, std::uint64_t chunk_size,
                                        ChunkMemory& memory)
{
    LocalDefinitions local;
    read_definition_file(name, chunk_size, memory, [&](std::uint8_t record, const ByteReader& content) {
        return record == type::mapping_table  ? add_table(content, local)
               : record == type::clock_offset ? add_clock_offset(content, local)
                                              : true;
    });
    return local;
}

}  // namespace critpath::otf2

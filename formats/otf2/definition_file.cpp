// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/definition_file.hpp"

namespace critpath::otf2
{

namespace
{

namespace type
{
constexpr std::uint8_t first = 5;  // below it are marks
constexpr std::uint8_t group = 18;
}  // namespace type

ChunkEnd read_chunk(ByteReader& records, const TakeDefinition& take)
{
    for (;;) {
        const std::uint8_t record = records.byte();
        if (records.is_broken()) {
            return ChunkEnd::Broken;
        }
        if (record < type::first) {
            return record == mark::end_of_chunk  ? ChunkEnd::Chunk
                   : record == mark::end_of_file ? ChunkEnd::File
                                                 : ChunkEnd::Broken;
        }
        const ByteReader content = records.record();
        if (content.is_broken() || !take(record, content)) {
            return ChunkEnd::Broken;
        }
    }
}

/// Of the members of a group: reference, name, old type, number of members.
bool fits_group(ByteReader content)
{
    content.compressed<std::uint64_t>();
    content.compressed<std::uint64_t>();
    content.byte();
    const auto members = content.compressed<std::uint64_t>();
    return !content.is_broken() && members <= content.left();
}

}  // namespace

void read_definition_file(const std::filesystem::path& name, std::uint64_t chunk_size, ChunkMemory& memory,
                          const TakeDefinition& take)
{
    const InputFile file(name, chunk_size);
    for (std::uint64_t begin = 0; begin < file.size(); begin = file.end_of_chunk(begin)) {
        auto chunk = file.chunk(begin, memory);
        if (!chunk) {
            break;
        }
        const ChunkEnd end = read_chunk(chunk->records, take);
        if (end == ChunkEnd::File && is_at_end(chunk->records) && file.is_last(begin)) {
            return;
        }
        if (end == ChunkEnd::Broken) {
            file.damaged("damaged, or cut short, {} bytes from its begin",
                         file.end_of_chunk(begin) - chunk->records.left());
        }
        if (end == ChunkEnd::File) {
            break;
        }
    }
    file.damaged_at_end();
}

void check_definition_file(const std::filesystem::path& name, std::uint64_t chunk_size, ChunkMemory& memory)
{
    read_definition_file(name, chunk_size, memory, [](std::uint8_t record, const ByteReader& content) {
        return record != type::group || fits_group(content);
    });
}

}  // namespace critpath::otf2

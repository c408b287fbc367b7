// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns an OTF2 file that is read chunk by chunk: the heads of its chunks, and what is said where it is damaged.
#pragma once

#include "formats/otf2/byte_reader.hpp"
#include "formats/support/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace critpath::otf2
{

/// What the byte for the order of bytes is in files whose integers have the least significant one first.
inline constexpr std::uint8_t little_endian = 0x42;

/// What is said of a damaged file after its cause.
inline constexpr const char* retry = "record the application again, or copy the trace again";

/// The first byte of what stands in a chunk. Records begin with their type.
namespace mark
{
inline constexpr std::uint8_t end_of_chunk = 0;
inline constexpr std::uint8_t end_of_buffer = 1;  // behind the end of the file
inline constexpr std::uint8_t end_of_file = 2;
inline constexpr std::uint8_t chunk_head = 3;
}  // namespace mark

/// Memory for a chunk; the next one, or that of the next file, uses it again, since many files are small.
using ChunkMemory = std::vector<std::uint8_t>;

/// What ends the records of a chunk: the chunk or the file, or a record that cannot be read.
enum class ChunkEnd : std::uint8_t { Chunk, File, Broken };

/// A file is divided into chunks of one size; only the last one may be shorter.
struct Chunk {
    std::uint64_t first_event;  // from 1; of definitions, 0
    std::uint64_t last_event;
    ByteReader records;
};

/// Whether there is anything of that name. Throws Failure(BadTrace) if that cannot be known, or if what should be its
/// directory is none.
bool is_there(const std::filesystem::path& name);

class InputFile
{
public:
    /// Throws Failure(BadTrace) that names the file if it cannot be opened, or is no file. `name` lives as long.
    InputFile(const std::filesystem::path& name, std::uint64_t chunk_size);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    [[nodiscard]] bool is_last(std::uint64_t begin) const { return size_ - begin <= chunk_size_; }

    /// The chunk at `begin`, which lives as long as the memory is not used again; none if it does not begin as a chunk
    /// does. Throws Failure(BadTrace) if it cannot be read.
    [[nodiscard]] std::optional<Chunk> chunk(std::uint64_t begin, ChunkMemory& memory) const
    {
        return read_chunk(begin, chunk_size_, memory);
    }

    /// The same without its records.
    [[nodiscard]] std::optional<Chunk> chunk_head(std::uint64_t begin, ChunkMemory& memory) const
    {
        return read_chunk(begin, head_size, memory);
    }

    /// Where the chunk at `begin` ends.
    [[nodiscard]] std::uint64_t end_of_chunk(std::uint64_t begin) const
    {
        return begin + std::min(chunk_size_, size_ - begin);
    }

    [[nodiscard]] std::uint64_t size() const { return size_; }

    /// Throws Failure(BadTrace) that names the file, the cause, and what to do.
    template <class... Args>
    [[noreturn]] void damaged(fmt::format_string<Args...> cause, Args&&... args) const
    {
        fail(ExitCode::BadTrace, "{}: {}; {}", name_.string(), fmt::format(cause, std::forward<Args>(args)...), retry);
    }

    [[noreturn]] void damaged_at_end() const
    {
        damaged("does not end as an OTF2 file ends: it has been cut short, or something was appended");
    }

private:
    static constexpr std::uint64_t head_size = 18;

    [[nodiscard]] std::optional<Chunk> read_chunk(std::uint64_t begin, std::uint64_t most, ChunkMemory& memory) const;
    void read(std::uint64_t begin, std::span<std::uint8_t> bytes) const;

    const std::filesystem::path& name_;
    std::uint64_t chunk_size_;
    int fd_;
    std::uint64_t size_ = 0;
};

/// Whether the last chunk of a file ends behind its records: with the end of the file, which was taken, and that of the
/// buffer.
inline bool is_at_end(ByteReader records)
{
    return records.byte() == mark::end_of_buffer && records.left() == 0 && !records.is_broken();
}

}  // namespace critpath::otf2

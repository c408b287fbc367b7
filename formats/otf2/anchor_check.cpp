// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/anchor_check.hpp"

#include "formats/otf2/input_file.hpp"
#include "formats/support/error.hpp"

#include <otf2/otf2.h>

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

namespace critpath::otf2
{

namespace
{

namespace fs = std::filesystem;

// Where things stand in an anchor file: behind the head of a chunk and the magic word, all with a fixed size up to
// three strings, the number of properties, and these (a name and a value each).
constexpr std::size_t byte_order = 1;
constexpr std::size_t magic = 2;
constexpr std::size_t chunk_sizes = 12;
constexpr std::size_t substrate = 28;
constexpr std::size_t compression = 29;
constexpr std::size_t strings = 46;
constexpr char zlib = 2;  // OTF2_COMPRESSION_ZLIB, which the headers call deprecated

/// The integer of `size` bytes at `begin`.
std::uint64_t number(std::string_view bytes, std::size_t begin, std::size_t size)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const std::size_t significant_first = bytes[byte_order] == little_endian ? size - 1 - i : i;
        value = value << 8U | static_cast<unsigned char>(bytes[begin + significant_first]);
    }
    return value;
}

/// Behind the string at `begin`; npos if it does not end.
std::size_t behind_string(std::string_view bytes, std::size_t begin)
{
    const std::size_t end = begin == std::string_view::npos ? begin : bytes.find('\0', begin);
    return end == std::string_view::npos ? end : end + 1;
}

std::string read_head(const fs::path& file)
{
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (fs::exists(status) && !fs::is_regular_file(status)) {  // to open a pipe would wait for somebody who writes
        fail(ExitCode::BadTrace, "{}: not a file; give the directory that cpcollect made, or its .otf2 file",
             file.string());
    }
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        const int why = errno;
        fail(ExitCode::BadTrace, "{}: cannot be opened: {}; check the name and the permissions", file.string(),
             std::strerror(why));
    }
    // libotf2 writes no anchor file beyond that.
    std::string bytes(OTF2_CHUNK_SIZE_MIN, '\0');
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(stream.gcount()));
    return bytes;
}

/// libotf2 would refuse these archives too, with less to the point.
void check_kind(const fs::path& file, std::string_view bytes)
{
    if (bytes[substrate] == OTF2_SUBSTRATE_SION) {
        fail(ExitCode::BadTrace,
             "{}: the trace is in SIONlib containers, which this OTF2 library cannot read; record it "
             "with one file a location (Score-P: SCOREP_TRACING_USE_SION=false)",
             file.string());
    }
    if (bytes[compression] == zlib) {
        fail(ExitCode::BadTrace,
             "{}: the trace is compressed (compression=ZLIB), which this OTF2 library cannot read; "
             "record it without compression",
             file.string());
    }
}

/// libotf2 makes room for whatever numbers it finds.
void check_numbers(const fs::path& file, std::string_view bytes)
{
    for (const std::size_t at : {chunk_sizes, chunk_sizes + 8}) {
        const std::uint64_t size = number(bytes, at, 8);
        if (size < OTF2_CHUNK_SIZE_MIN || size > OTF2_CHUNK_SIZE_MAX) {
            fail(ExitCode::BadTrace, "{}: says that files have chunks of {} bytes, which no OTF2 file has; {}",
                 file.string(), size, retry);
        }
    }
    std::size_t place = strings;
    for (int i = 0; i < 3; ++i) {
        place = behind_string(bytes, place);
    }
    if (place > bytes.size() || bytes.size() - place < 4) {
        fail(ExitCode::BadTrace, "{}: cannot be read: it has been cut short; {}", file.string(), retry);
    }
    const std::uint64_t properties = number(bytes, place, 4);
    if (properties > (bytes.size() - place) / 2) {
        fail(ExitCode::BadTrace, "{}: cannot be read: it has no room for {} properties; {}", file.string(), properties,
             retry);
    }
}

}  // namespace

void check_anchor_file(const fs::path& file)
{
    const std::string bytes = read_head(file);
    if (bytes.size() <= compression || std::string_view(bytes).substr(magic, 4) != "OTF2") {
        fail(ExitCode::BadTrace,
             "{}: not an OTF2 anchor file; give the directory that cpcollect made, or its .otf2 file", file.string());
    }
    check_kind(file, bytes);
    check_numbers(file, bytes);
}

}  // namespace critpath::otf2

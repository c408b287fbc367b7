// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what the binary files of a result have in common: a header, then records of one size (formats/FORMAT.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace critpath::result
{

/// One kind of file.
struct RecordFormat {
    const char* file_name;  // in the directory of the result
    const char* content;    // "segments"
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t record_size;  // bytes
};

/// The first 64 bytes of the file, little endian.
struct RecordHeader {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t record_size;
    std::uint64_t records;
    std::int64_t begin_ns;  // first moment of the run on the trace's clock
    std::int64_t makespan_ns;
    std::array<std::uint8_t, 24> zero;
};
inline constexpr std::size_t record_header_size = 64;
static_assert(sizeof(RecordHeader) == record_header_size);

constexpr RecordHeader make_header(const RecordFormat& format, std::uint64_t records, std::int64_t begin_ns,
                                   std::int64_t makespan_ns)
{
    return {format.magic, format.version, format.record_size, records, begin_ns, makespan_ns, {}};
}

/// A file of TRACE/critpath, mapped read-only for as long as this lives.
class RecordFile
{
public:
    /// Throws Failure(BadTrace) if it is missing, of another version, or if its header contradicts its size.
    RecordFile(const std::filesystem::path& trace, const RecordFormat& format);

    [[nodiscard]] const RecordHeader& header() const { return *static_cast<const RecordHeader*>(data_.get()); }
    /// The first record.
    [[nodiscard]] const void* records() const
    {
        return static_cast<const unsigned char*>(data_.get()) + record_header_size;
    }
    /// Throws Failure(BadTrace) that says how the file is damaged.
    [[noreturn]] void damaged(const char* how) const;

private:
    struct Unmap {
        std::size_t size;
        void operator()(const void* data) const;
    };
    std::filesystem::path trace_, path_;
    std::unique_ptr<const void, Unmap> data_;
};

}  // namespace critpath::result

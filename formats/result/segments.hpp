// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns segments.bin: its header, which the replay writes in parallel with MPI-IO, and the mapped reader
// (formats/FORMAT.md). Record i stands at byte segments_header_size + i * sizeof(model::Segment).
#pragma once

#include "analysis/model/path.hpp"
#include "analysis/model/profile.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace critpath::result
{

/// The directory of the result inside a trace, and the files in it.
inline constexpr const char* directory_name = "critpath";
inline constexpr const char* database_name = "critpath.sqlite";
inline constexpr const char* segments_name = "segments.bin";

inline constexpr char segments_magic[8] = {'C', 'P', 'S', 'E', 'G', 'M', 'T', '1'};
inline constexpr std::uint32_t segments_version = 1;
inline constexpr std::size_t segments_header_size = 64;

/// The first 64 bytes of segments.bin, little endian.
struct SegmentsHeader {
    char magic[8];
    std::uint32_t version;
    std::uint32_t record_size;  // sizeof(model::Segment)
    std::uint64_t records;
    std::int64_t begin_ns;  // first moment of the run on the trace's clock
    std::int64_t makespan_ns;
    std::uint8_t zero[24];
};
static_assert(sizeof(SegmentsHeader) == segments_header_size);

constexpr SegmentsHeader make_segments_header(std::uint64_t records, std::int64_t begin_ns, std::int64_t makespan_ns)
{
    SegmentsHeader header{};
    for (std::size_t i = 0; i < sizeof segments_magic; ++i)
        header.magic[i] = segments_magic[i];
    header.version = segments_version;
    header.record_size = sizeof(model::Segment);
    header.records = records;
    header.begin_ns = begin_ns;
    header.makespan_ns = makespan_ns;
    return header;
}

inline std::filesystem::path database_path(const std::filesystem::path& trace)
{
    return trace / directory_name / database_name;
}

inline std::filesystem::path segments_path(const std::filesystem::path& trace)
{
    return trace / directory_name / segments_name;
}

/// The segments of TRACE, mapped read-only for as long as this lives.
class Segments
{
public:
    /// Maps TRACE/critpath/segments.bin. Throws Failure(BadTrace) if it is missing, of another version, or if its
    /// header contradicts its size.
    explicit Segments(const std::filesystem::path& trace);

    [[nodiscard]] const SegmentsHeader& header() const;
    [[nodiscard]] std::span<const model::Segment> records() const;

    /// Reads everything once: the segments form one chain over the whole makespan, all their ids exist in `profile`,
    /// and they have the checksum that `profile` has, if it has one. Throws Failure(BadTrace) if not.
    void check(const model::Profile& profile) const;

private:
    struct Unmap {
        std::size_t size;
        void operator()(const void* data) const;
    };
    std::filesystem::path trace_;
    std::unique_ptr<const void, Unmap> data_;
};

}  // namespace critpath::result

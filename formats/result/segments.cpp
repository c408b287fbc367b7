// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/result/segments.hpp"

#include "formats/result/checksum.hpp"
#include "formats/result/file.hpp"
#include "formats/support/error.hpp"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace critpath::result
{

namespace
{

[[noreturn]] void damaged(const std::filesystem::path& trace, const char* how)
{
    fail(ExitCode::BadTrace, "{}: damaged ({}); run again: mpirun -n N cpreplay {}", segments_path(trace).string(), how,
         trace.string());
}

const char* contradiction(const SegmentsHeader& header, std::size_t size)
{
    if (header.record_size != sizeof(model::Segment))
        return "its records have another size";
    const std::size_t room = (size - segments_header_size) / sizeof(model::Segment);
    if (header.records > room)
        return "it is cut short";
    if (header.records * sizeof(model::Segment) + segments_header_size != size)
        return "it is longer than its header says";
    const SegmentsHeader expected = make_segments_header(header.records, header.begin_ns, header.makespan_ns);
    if (std::memcmp(&header, &expected, sizeof header) != 0)
        return "its header has bytes that no header has";
    return nullptr;
}

const char* wrong_ids(const model::Segment& segment, const model::Profile& profile)
{
    if (segment.kind >= model::segment_kinds)
        return "a segment has an unknown kind";
    if (segment.location >= profile.locations.size() || segment.from >= profile.locations.size())
        return "a segment has an unknown location";
    const bool has_function = model::RowId{segment.function}.valid();
    if (has_function && segment.function >= profile.rows.size())
        return "a segment has an unknown function";
    return nullptr;
}

}  // namespace

void Segments::Unmap::operator()(const void* data) const
{
    ::munmap(const_cast<void*>(data), size);
}

Segments::Segments(const std::filesystem::path& trace) : trace_(trace), data_(nullptr, Unmap{0})
{
    const int fd = open_result(trace, segments_name);
    struct stat status {
    };
    void* data = MAP_FAILED;
    if (::fstat(fd, &status) == 0 && status.st_size >= static_cast<off_t>(segments_header_size))
        data = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    const int error = errno;
    ::close(fd);
    if (status.st_size < static_cast<off_t>(segments_header_size))
        damaged(trace, "it is cut short");
    if (data == MAP_FAILED)
        fail(ExitCode::Failed, "{}: cannot be mapped: {}; copy it to another file system",
             segments_path(trace).string(), std::strerror(error));
    data_ = std::unique_ptr<const void, Unmap>(data, Unmap{static_cast<std::size_t>(status.st_size)});

    if (std::memcmp(header().magic, segments_magic, sizeof segments_magic) != 0)
        damaged(trace, "it is not a file of segments");
    if (header().version != segments_version)
        fail(ExitCode::BadTrace, "{}: has version {}, this program reads {}; run again: mpirun -n N cpreplay {}",
             segments_path(trace).string(), header().version, segments_version, trace.string());
    if (const char* how = contradiction(header(), data_.get_deleter().size); how != nullptr)
        damaged(trace, how);
}

const SegmentsHeader& Segments::header() const
{
    return *static_cast<const SegmentsHeader*>(data_.get());
}

std::span<const model::Segment> Segments::records() const
{
    const void* first = static_cast<const unsigned char*>(data_.get()) + segments_header_size;
    return {static_cast<const model::Segment*>(first), header().records};
}

void Segments::check(const model::Profile& profile) const
{
    const auto fact = [&](const char* key, std::int64_t otherwise) {
        const auto found = profile.facts.find(key);
        return found == profile.facts.end() ? otherwise : found->second;
    };
    if (header().begin_ns != fact("begin_ns", header().begin_ns) ||
        header().makespan_ns != fact("makespan_ns", header().makespan_ns) ||
        static_cast<std::int64_t>(header().records) != fact("segments", static_cast<std::int64_t>(header().records)))
        damaged(trace_, "it belongs to another result");
    std::int64_t time = 0;
    for (const model::Segment& segment : records()) {
        if (segment.begin != time || segment.end <= segment.begin)
            damaged(trace_, "the segments do not form one chain");
        if (const char* how = wrong_ids(segment, profile); how != nullptr)
            damaged(trace_, how);
        time = segment.end;
    }
    if (time != header().makespan_ns)
        damaged(trace_, "the segments do not cover the run");
    const std::int64_t sum = static_cast<std::int64_t>(checksum(records(), 0));
    if (sum != fact(std::string(segments_checksum_fact).c_str(), sum))
        damaged(trace_, "the checksum does not fit");
}

}  // namespace critpath::result

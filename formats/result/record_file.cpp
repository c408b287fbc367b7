// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "formats/result/record_file.hpp"

#include "formats/result/file.hpp"
#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"
#include "formats/support/terminal.hpp"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace critpath::result
{

namespace
{

const char* contradiction(const RecordHeader& header, const RecordFormat& format, std::size_t size)
{
    if (header.record_size != format.record_size)
        return "its records have another size";
    const std::size_t room = (size - record_header_size) / format.record_size;
    if (header.records > room)
        return "it is cut short";
    if (header.records * format.record_size + record_header_size != size)
        return "it is longer than its header says";
    const RecordHeader expected = make_header(format, header.records, header.begin_ns, header.makespan_ns);
    if (std::memcmp(&header, &expected, sizeof header) != 0)
        return "its header has bytes that no header has";
    return nullptr;
}

}  // namespace

void RecordFile::Unmap::operator()(const void* data) const
{
    ::munmap(const_cast<void*>(data), size);
}

RecordFile::RecordFile(const std::filesystem::path& trace, const RecordFormat& format)
    : trace_(trace), path_(trace / directory_name / format.file_name), data_(nullptr, Unmap{0})
{
    const int fd = open_result(trace, format.file_name);
    struct stat status {
    };
    void* data = MAP_FAILED;
    if (::fstat(fd, &status) == 0 && status.st_size >= static_cast<off_t>(record_header_size))
        data = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    const int error = errno;
    ::close(fd);
    if (status.st_size < static_cast<off_t>(record_header_size))
        damaged("it is cut short");
    if (data == MAP_FAILED)
        fail(ExitCode::Failed, "{}: cannot be mapped: {}; copy it to another file system", path_.string(),
             std::strerror(error));
    data_ = std::unique_ptr<const void, Unmap>(data, Unmap{static_cast<std::size_t>(status.st_size)});

    if (header().magic != format.magic)
        fail(ExitCode::BadTrace, "{}: damaged (it is not a file of {}); run again: mpirun -n N cpreplay {}",
             path_.string(), format.content, shell_quoted(trace.string()));
    if (header().version != format.version)
        fail(ExitCode::BadTrace, "{}: has version {}, this program reads {}; run again: mpirun -n N cpreplay {}",
             path_.string(), header().version, format.version, shell_quoted(trace.string()));
    if (const char* how = contradiction(header(), format, data_.get_deleter().size); how != nullptr)
        damaged(how);
}

void RecordFile::damaged(const char* how) const
{
    fail(ExitCode::BadTrace, "{}: damaged ({}); run again: mpirun -n N cpreplay {}", path_.string(), how,
         shell_quoted(trace_.string()));
}

}  // namespace critpath::result

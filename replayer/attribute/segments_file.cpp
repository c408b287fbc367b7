// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/segments_file.hpp"

#include "formats/result/checksum.hpp"
#include "formats/support/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace critpath::replayer
{

namespace
{

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const fs::path& file, const std::string& cause)
{
    fail(ExitCode::Failed, "{}: cannot be written: {}; check the permissions and the free space of the trace directory",
         file.string(), cause);
}

/// All processes fail if one did, with the words of the first that did.
void agree(MPI_Comm comm, const fs::path& file, const std::string& cause)
{
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int first = cause.empty() ? size : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == size)
        return;
    std::string words = cause;
    auto length = static_cast<int>(words.size());
    MPI_Bcast(&length, 1, MPI_INT, first, comm);
    words.resize(static_cast<std::size_t>(length));
    MPI_Bcast(words.data(), length, MPI_CHAR, first, comm);
    fail_to_write(file, words);
}

/// The keeper of paged memory interrupts.
template <class Call>
auto again(Call call)
{
    auto result = call();
    while (result < 0 && errno == EINTR)
        result = call();
    return result;
}

/// A file that several processes have open, each of which writes a part of its own. Not by MPI_File: to open one takes
/// as long as to write 30 MB with Open MPI 4.1, which calls it a success of fewer bytes when the disk is full. It has
/// its full size before the second process opens it: where the file system is NFS, who writes behind the end that he
/// knows of writes whole pages.
class SharedFile
{
public:
    SharedFile() = default;
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;
    ~SharedFile()
    {
        if (descriptor_ >= 0)
            ::close(descriptor_);
    }

    void create(const fs::path& path, std::uint64_t size)
    {
        open(path, O_CREAT | O_EXCL);
        if (cause_.empty())
            note(reserve(static_cast<off_t>(size)));
    }

    void open(const fs::path& path, int flags = 0)
    {
        descriptor_ = again([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666); });
        note(descriptor_ >= 0);
    }

    void write(std::uint64_t offset, std::span<const std::byte> bytes)
    {
        while (!bytes.empty() && cause_.empty()) {
            const auto written =
                again([&] { return ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
            if (written == 0)  // as some file systems of users do
                errno = ENOSPC;
            note(written > 0);
            if (written > 0) {
                offset += static_cast<std::uint64_t>(written);
                bytes = bytes.subspan(static_cast<std::size_t>(written));
            }
        }
    }

    void close()
    {
        if (descriptor_ >= 0)
            note(::close(std::exchange(descriptor_, -1)) == 0 || errno == EINTR);  // it is closed all the same
    }

    /// What went wrong first; empty: nothing.
    [[nodiscard]] const std::string& cause() const { return cause_; }

private:
    /// Where the file system can, on the disk: then it is known at once whether there is room, and processes that write
    /// at a time wait less for each other (bench/RESULTS.md).
    [[nodiscard]] bool reserve(off_t size) const
    {
        if (size > 0 && again([&] { return ::fallocate(descriptor_, 0, 0, size); }) == 0)
            return true;
        const bool cannot = size == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL;
        return cannot && again([&] { return ::ftruncate(descriptor_, size); }) == 0;
    }

    void note(bool is_fine)
    {
        if (!is_fine && cause_.empty())
            cause_ = std::strerror(errno);
    }

    int descriptor_ = -1;
    std::string cause_;
};

/// In place of what there is of that name, in a directory that is made. Returns what went wrong; empty: nothing.
std::string create(const fs::path& name, const result::RecordHeader& header, std::uint64_t size, SharedFile& file)
{
    std::error_code error;
    fs::create_directories(name.parent_path(), error);
    if (!error)
        fs::remove(name, error);
    if (error)
        return error.message();
    file.create(name, size);
    file.write(0, std::as_bytes(std::span(&header, 1)));
    return file.cause();
}

template <class Record>
std::span<const std::byte> bytes_of(std::span<const Record> records)
{
    return std::as_bytes(records);
}

std::span<const std::byte> bytes_of(const model::CountRecords& records)
{
    return std::as_bytes(records.words());
}

/// The records of all processes come behind each other.
struct Share {
    std::uint64_t before = 0, all = 0;
};

Share share_of(MPI_Comm comm, std::uint64_t mine)
{
    Share share;
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Exscan(&mine, &share.before, 1, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(&mine, &share.all, 1, MPI_UINT64_T, MPI_SUM, comm);
    if (rank == 0)
        share.before = 0;
    return share;
}

/// Records at once.
constexpr std::size_t block_of_own = 1 << 20;

fs::path part_of(const fs::path& final_name)
{
    return final_name.string() + ".part";
}

std::array<fs::path, 5> record_files(const fs::path& trace)
{
    return {result::segments_path(trace), result::attribution_path(trace), result::counts_path(trace),
            result::totals_path(trace), result::computed_path(trace)};
}

/// Writes what is to become `final_name`. `each_block(write)` calls `write(first, records)` for the records of
/// this process. Returns the checksum of those of all.
template <class Each>
std::int64_t write_records(MPI_Comm comm, const fs::path& final_name, const result::RecordHeader& header,
                           Each each_block)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const fs::path name = part_of(final_name);
    const auto at = [&](std::uint64_t index) { return result::record_header_size + index * header.record_size; };
    SharedFile file;
    agree(comm, name, rank == 0 ? create(name, header, at(header.records), file) : "");
    if (rank != 0)
        file.open(name);
    std::uint64_t sum = 0;
    each_block([&](std::uint64_t first, const auto& records) {
        sum += result::checksum(records, first);
        file.write(at(first), bytes_of(records));
    });
    file.close();
    agree(comm, name, file.cause());
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
    return static_cast<std::int64_t>(sum);
}

/// Likewise, where `own` are the records of this process, behind those of the processes before it.
template <class Record>
std::int64_t write_own(MPI_Comm comm, const fs::path& final_name, const result::RecordFormat& format,
                       std::int64_t begin_ns, std::int64_t makespan_ns, std::span<const Record> own)
{
    const Share share = share_of(comm, own.size());
    const auto header = result::make_header(format, share.all, begin_ns, makespan_ns);
    return write_records(comm, final_name, header, [&](const auto& write) {
        for (std::size_t i = 0; i < own.size(); i += block_of_own)
            write(share.before + i, own.subspan(i, std::min(block_of_own, own.size() - i)));
    });
}

}  // namespace

std::int64_t write_segments(MPI_Comm comm, const fs::path& trace, const result::RecordHeader& header,
                            const EachBlock& each_block)
{
    return write_records(comm, result::segments_path(trace), header, each_block);
}

std::int64_t write_attributions(MPI_Comm comm, const fs::path& trace, std::int64_t begin_ns, std::int64_t makespan_ns,
                                std::span<const model::Attribution> own)
{
    return write_own(comm, result::attribution_path(trace), result::attribution_format, begin_ns, makespan_ns, own);
}

std::int64_t write_totals(MPI_Comm comm, const fs::path& trace, std::int64_t begin_ns, std::int64_t makespan_ns,
                          std::span<const model::TotalPart> own)
{
    return write_own(comm, result::totals_path(trace), result::totals_format, begin_ns, makespan_ns, own);
}

std::int64_t write_computed(MPI_Comm comm, const fs::path& trace, std::int64_t begin_ns, std::int64_t makespan_ns,
                            std::span<const model::ComputedParts> own)
{
    return write_own(comm, result::computed_path(trace), result::computed_format, begin_ns, makespan_ns, own);
}

std::int64_t write_counts(MPI_Comm comm, const fs::path& trace, std::int64_t begin_ns, std::int64_t makespan_ns,
                          std::size_t events, std::span<const model::CountTable> own)
{
    std::uint64_t mine = 0;
    for (const model::CountTable& table : own)
        mine += table.records().size();
    const Share share = share_of(comm, mine);
    const auto header = result::make_header(result::counts_format(events), share.all, begin_ns, makespan_ns);
    return write_records(comm, result::counts_path(trace), header, [&](const auto& write) {
        std::uint64_t before = share.before;
        for (const model::CountTable& table : own) {
            write(before, table.records());
            before += table.records().size();
        }
    });
}

void publish_records(const fs::path& trace)
{
    for (const fs::path& file : record_files(trace)) {
        std::error_code error;
        fs::remove(file, error);  // ext4 writes a file out before it lets it replace another
        if (!error)
            fs::rename(part_of(file), file, error);
        if (error)
            fail_to_write(file, error.message());
    }
}

void discard_records(const fs::path& trace)
{
    std::error_code ignored;
    for (const fs::path& file : record_files(trace))
        fs::remove(part_of(file), ignored);
}

}  // namespace critpath::replayer

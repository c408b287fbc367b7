// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/segments_file.hpp"

#include "formats/result/checksum.hpp"
#include "formats/support/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>

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

std::string cause_of(int code)
{
    if (code == MPI_SUCCESS)
        return {};
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return {text, static_cast<std::size_t>(length)};
}

/// An open file of all processes. Closing is collective, so no destructor does it: between open and close nothing
/// throws on one process only.
class SharedFile
{
public:
    SharedFile(MPI_Comm comm, fs::path path) : comm_(comm), path_(std::move(path))
    {
        const int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY;
        agree(comm_, path_, cause_of(MPI_File_open(comm_, path_.c_str(), mode, MPI_INFO_NULL, &file_)));
    }

    /// On a full disk, Open MPI 4.1 calls it a success of fewer bytes.
    int write(MPI_Offset offset, std::span<const std::byte> bytes)
    {
        const auto size = static_cast<int>(bytes.size());
        MPI_Status status;
        MPI_Status_set_elements(&status, MPI_BYTE, 0);
        const int code = MPI_File_write_at(file_, offset, bytes.data(), size, MPI_BYTE, &status);
        int written = 0;
        MPI_Get_count(&status, MPI_BYTE, &written);
        return code == MPI_SUCCESS && written != size ? MPI_ERR_NO_SPACE : code;
    }

    int resize(MPI_Offset size) { return MPI_File_set_size(file_, size); }

    int close() { return MPI_File_close(&file_); }

private:
    MPI_Comm comm_;
    fs::path path_;
    MPI_File file_ = MPI_FILE_NULL;
};

/// Runs `action` on process 0.
template <class Action>
void on_first(MPI_Comm comm, int rank, const fs::path& file, Action action)
{
    std::error_code error;
    if (rank == 0)
        action(error);
    agree(comm, file, error ? error.message() : "");
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

/// At once; MPI counts bytes in an int.
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
    on_first(comm, rank, name, [&](std::error_code& error) {
        fs::create_directories(final_name.parent_path(), error);
        if (!error)
            fs::remove(name, error);
    });

    const auto at = [&](std::uint64_t index) {
        return static_cast<MPI_Offset>(result::record_header_size + index * header.record_size);
    };
    SharedFile file(comm, name);
    int code = file.resize(at(header.records));
    const auto note = [&](int other) { code = code == MPI_SUCCESS ? other : code; };
    if (rank == 0)
        note(file.write(0, std::as_bytes(std::span(&header, 1))));
    std::uint64_t sum = 0;
    each_block([&](std::uint64_t first, const auto& records) {
        sum += result::checksum(records, first);
        if (const std::span<const std::byte> bytes = bytes_of(records); !bytes.empty())
            note(file.write(at(first), bytes));
    });
    note(file.close());
    agree(comm, name, cause_of(code));
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
                          const model::CountTable& own)
{
    const model::CountRecords records = own.records();
    const Share share = share_of(comm, records.size());
    const auto header = result::make_header(result::counts_format(own.events()), share.all, begin_ns, makespan_ns);
    return write_records(comm, result::counts_path(trace), header, [&](const auto& write) {
        for (std::size_t i = 0; i < records.size(); i += block_of_own)
            write(share.before + i, records.part(i, std::min(block_of_own, records.size() - i)));
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

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/segments_file.hpp"

#include "formats/result/checksum.hpp"
#include "formats/support/error.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>

namespace critpath::replayer
{

namespace
{

namespace fs = std::filesystem;

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
    fail(ExitCode::Failed, "{}: cannot be written: {}; check the permissions and the free space of the trace directory",
         file.string(), words);
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

    int write(MPI_Offset offset, std::span<const std::byte> bytes)
    {
        return MPI_File_write_at(file_, offset, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE,
                                 MPI_STATUS_IGNORE);
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

/// Writes `final_name`, under another name first. `each_block(write)` calls `write(first, records)` for the records of
/// this process. Returns the checksum of those of all.
template <class Record, class Each>
std::int64_t write_records(MPI_Comm comm, const fs::path& final_name, const result::RecordHeader& header,
                           Each each_block)
{
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const fs::path name = final_name.string() + ".part";
    on_first(comm, rank, name, [&](std::error_code& error) {
        fs::create_directories(final_name.parent_path(), error);
        if (!error)
            fs::remove(name, error);
    });

    const auto at = [](std::uint64_t index) {
        return static_cast<MPI_Offset>(result::record_header_size + index * sizeof(Record));
    };
    SharedFile file(comm, name);
    int code = file.resize(at(header.records));
    const auto note = [&](int other) { code = code == MPI_SUCCESS ? other : code; };
    if (rank == 0)
        note(file.write(0, std::as_bytes(std::span(&header, 1))));
    std::uint64_t sum = 0;
    each_block([&](std::uint64_t first, std::span<const Record> records) {
        sum += result::checksum(records, first);
        if (!records.empty())
            note(file.write(at(first), std::as_bytes(records)));
    });
    note(file.close());
    agree(comm, name, cause_of(code));

    on_first(comm, rank, final_name, [&](std::error_code& error) {
        fs::remove(final_name, error);  // ext4 writes a file out before it lets it replace another
        if (!error)
            fs::rename(name, final_name, error);
    });
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
    return static_cast<std::int64_t>(sum);
}

}  // namespace

std::int64_t write_segments(MPI_Comm comm, const fs::path& trace, const result::RecordHeader& header,
                            const EachBlock& each_block)
{
    return write_records<model::Segment>(comm, result::segments_path(trace), header, each_block);
}

std::int64_t write_attributions(MPI_Comm comm, const fs::path& trace, std::int64_t begin_ns, std::int64_t makespan_ns,
                                std::span<const model::Attribution> own)
{
    constexpr std::size_t block = 1 << 20;  // MPI counts bytes in an int
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const std::uint64_t mine = own.size();
    std::uint64_t before = 0;
    std::uint64_t all = 0;
    MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, comm);
    before = rank == 0 ? 0 : before;
    const auto header = result::make_header(result::attribution_format, all, begin_ns, makespan_ns);
    return write_records<model::Attribution>(comm, result::attribution_path(trace), header, [&](const auto& write) {
        for (std::size_t i = 0; i < own.size(); i += block)
            write(before + i, own.subspan(i, std::min(block, own.size() - i)));
    });
}

}  // namespace critpath::replayer

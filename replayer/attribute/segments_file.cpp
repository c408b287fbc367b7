// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "replayer/attribute/segments_file.hpp"

#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"

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

    int write(MPI_Offset offset, const void* data, int count, MPI_Datatype type)
    {
        return MPI_File_write_at_all(file_, offset, data, count, type, MPI_STATUS_IGNORE);
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

}  // namespace

void write_segments(const Replay& replay, const Path& path, const std::filesystem::path& trace)
{
    const fs::path final_name = result::segments_path(trace);
    const fs::path name = final_name.string() + ".part";
    on_first(replay.comm, replay.rank, name, [&](std::error_code& error) {
        fs::create_directories(final_name.parent_path(), error);
        if (!error)
            fs::remove(name, error);
    });

    const auto header = result::make_segments_header(path.segments, path.begin.count(), path.makespan.count());
    const auto at = [](std::uint64_t index) {
        const std::uint64_t offset = result::segments_header_size + index * sizeof(model::Segment);
        return static_cast<MPI_Offset>(offset);
    };
    MPI_Datatype record = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(sizeof(model::Segment), MPI_BYTE, &record);
    MPI_Type_commit(&record);
    SharedFile file(replay.comm, name);
    int code = file.resize(at(path.segments));
    const int header_bytes = replay.rank == 0 ? static_cast<int>(sizeof header) : 0;
    const int header_code = file.write(0, &header, header_bytes, MPI_BYTE);
    const int block_code = file.write(at(path.first), path.block.data(), static_cast<int>(path.block.size()), record);
    const int close_code = file.close();
    MPI_Type_free(&record);
    for (const int other : {header_code, block_code, close_code})
        code = code == MPI_SUCCESS ? other : code;
    agree(replay.comm, name, cause_of(code));

    on_first(replay.comm, replay.rank, final_name,
             [&](std::error_code& error) { fs::rename(name, final_name, error); });
}

}  // namespace critpath::replayer

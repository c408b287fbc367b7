// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/report/locate.hpp"

#include "analysis/report/text.hpp"
#include "formats/result/segments.hpp"
#include "formats/support/error.hpp"

#include <optional>
#include <system_error>
#include <utility>

namespace critpath::report
{

namespace
{

namespace fs = std::filesystem;

/// When the trace in `directory` was last written; nothing if it holds no trace.
std::optional<fs::file_time_type> trace_time(const fs::path& directory)
{
    for (const fs::path& file : {result::database_path(directory), directory / "traces.otf2"}) {
        std::error_code error;
        const auto time = fs::last_write_time(file, error);
        if (!error)
            return time;
    }
    return std::nullopt;
}

bool is_anchor(const fs::path& path, const fs::file_status& status)
{
    return fs::exists(status) && !fs::is_directory(status) && path.extension() == ".otf2";
}

}  // namespace

bool is_trace(const std::string& argument)
{
    const fs::path path(argument);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    return is_anchor(path, status) || (fs::is_directory(status) && trace_time(path));
}

fs::path find_trace(const std::string& argument)
{
    fs::path path(argument);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found)
        fail(ExitCode::BadTrace, "{}: no such trace; give the directory that cpcollect made", argument);
    if (error)
        fail(ExitCode::BadTrace, "{}: cannot be looked at: {}; check the permissions of the directories above it",
             argument, error.message());
    if (is_anchor(path, status))
        return path.has_parent_path() ? path.parent_path() : fs::path(".");
    if (fs::is_directory(status) && trace_time(path))
        return path;
    // In a directory that may not be entered, nothing is found.
    if (!fs::exists(path / "traces.otf2", error) && error)
        fail(ExitCode::BadTrace, "{}: cannot be entered: {}; check its permissions", argument, error.message());
    if (fs::is_directory(path / "spool", error))
        fail(ExitCode::BadTrace,
             "{}: the application is running, or ended without MPI_Finalize; once it has ended, replay what was "
             "recorded: cpreplay {}",
             argument, shell_quoted(argument));
    fail(ExitCode::BadTrace, "{}: not a trace; give a directory with traces.otf2 in it, or an .otf2 file", argument);
}

fs::path newest_trace(const fs::path& directory)
{
    if (trace_time(directory))
        return directory;
    std::optional<std::pair<fs::file_time_type, fs::path>> newest;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
        const auto time = trace_time(entry->path());
        // The name decides between equal times, so that the choice does not depend on the order of the directory.
        if (time && (!newest || std::pair(*time, entry->path().filename()) > *newest))
            newest.emplace(*time, entry->path().filename());
    }
    if (!newest)
        fail(ExitCode::Usage, "no trace in this directory; name one: cpreport COMMAND TRACE");
    return directory == "." ? newest->second : directory / newest->second;
}

}  // namespace critpath::report

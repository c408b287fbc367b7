// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/launcher/trace_directory.hpp"

#include "collector/archive/recover.hpp"
#include "collector/launcher/environment.hpp"
#include "collector/launcher/output_pattern.hpp"
#include "formats/support/error.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace critpath::launcher
{
namespace
{

namespace fs = std::filesystem;

bool begins_with(std::string_view text, std::string_view beginning)
{
    return text.substr(0, beginning.size()) == beginning;
}

bool is_there(const fs::path& path)
{
    std::error_code ignored;
    return fs::exists(fs::symlink_status(path, ignored));
}

/// First entry of a directory that no run of ours puts there; empty if all are ours.
std::string foreign_entry(const fs::path& directory)
{
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
        std::string name = entry.path().filename();
        if (name != "traces" && !begins_with(name, "traces.") && name != "spool" && name != "critpath") {
            return name;
        }
    }
    const fs::path spool = directory / "spool";
    if (fs::is_directory(spool)) {
        for (const fs::directory_entry& entry : fs::directory_iterator(spool)) {
            const std::string name = entry.path().filename();
            if (!archive::is_spool_file(name)) {
                return "spool/" + name;
            }
        }
    }
    return {};
}

void require_trace(const fs::path& directory)
{
    if (!is_there(directory / "traces.otf2") && !is_there(directory / "spool")) {
        fail(ExitCode::Usage, "{}: is not a trace, so --force does not touch it; choose another directory with -o",
             directory.native());
    }
    const std::string foreign = foreign_entry(directory);
    if (!foreign.empty()) {
        fail(ExitCode::Usage,
             "{}: holds {}, which is not part of a trace, so --force does not touch it; choose another "
             "directory with -o",
             directory.native(), foreign);
    }
}

/// Removes what is in the directory, not the directory: it may be a link, or have permissions that somebody chose.
void empty_directory(const fs::path& directory)
{
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
        fs::remove_all(entry.path());
    }
}

void require_writable(const fs::path& directory)
{
    if (access(directory.c_str(), W_OK | X_OK) != 0) {
        throw fs::filesystem_error("", std::error_code(errno, std::system_category()));
    }
}

/// Makes the directory, or empties the trace that it holds if `force`. Nothing is removed from directories that hold
/// anything but a trace. Returns true if the directory was made here.
bool prepare_directory(const fs::path& directory, bool force)
{
    if (!is_there(directory)) {
        fs::create_directories(directory);
        require_writable(directory);
        return true;
    }
    if (!fs::is_directory(directory)) {
        fail(ExitCode::Usage, "{}: is not a directory; choose another name with -o", directory.native());
    }
    require_writable(directory);
    if (!fs::is_empty(directory)) {
        if (!force) {
            fail(ExitCode::Usage, "{}: exists already; overwrite it with --force, or choose another directory with -o",
                 directory.native());
        }
        require_trace(directory);
        empty_directory(directory);
    }
    return false;
}

}  // namespace

fs::path choose_directory(const std::string& output, const std::string& application, bool force)
{
    if (!output.empty()) {
        return fs::absolute(expand_output(output, application)).lexically_normal();
    }
    const std::string job = find_job();
    const std::string name = "cp-" + as_file_name(application) + "-" + (job.empty() ? date_and_time() : job);
    fs::path directory = fs::absolute(name);
    for (int run = 2; !force && is_there(directory); ++run) {
        directory = fs::absolute(name + "." + std::to_string(run));
    }
    return directory;
}

ClaimedDirectory claim_directory(const std::string& output, const std::string& application, bool force)
{
    fs::path directory = output;
    try {
        while (true) {
            directory = choose_directory(output, application, force);
            std::error_code error;
            if (output.empty() && !force && fs::create_directory(directory, error)) {
                return {directory, true, {}};
            }
            const bool lost_race = output.empty() && !force && (!error || error == std::errc::file_exists);
            if (!lost_race) {
                return {directory, prepare_directory(directory, force), {}};
            }
        }
    } catch (const fs::filesystem_error& refusal) {
        return {directory.empty() ? "." : directory, false, refusal.code()};
    }
}

}  // namespace critpath::launcher

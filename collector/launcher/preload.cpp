// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/launcher/preload.hpp"

#include "collector/launcher/elf_file.hpp"
#include "collector/launcher/environment.hpp"
#include "formats/support/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <system_error>
#include <vector>

namespace critpath::launcher
{
namespace
{

namespace fs = std::filesystem;

constexpr const char* preload_name = "libcritpath-preload.so";
constexpr const char* archive_name = "libcritpath-archive.so";

std::vector<fs::path> library_directories()
{
    const std::string given = environment_value("CRITPATH_LIBDIR");
    if (!given.empty()) {
        return {fs::absolute(given)};
    }
    const fs::path prefix = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
    return {prefix / "lib", prefix / CRITPATH_INSTALL_LIBDIR / "critpath", prefix / "lib" / "critpath"};
}

fs::path find_library_directory()
{
    const std::vector<fs::path> directories = library_directories();
    std::string searched;
    for (const fs::path& directory : directories) {
        std::error_code ignored;
        if (fs::exists(directory / preload_name, ignored)) {
            return directory.lexically_normal();
        }
        searched += (searched.empty() ? "" : ", ") + directory.native();
    }
    fail(ExitCode::Failed, "{}: not found in {}; install critpath again, or set CRITPATH_LIBDIR", preload_name,
         searched);
}

void set(const char* name, const std::string& value)
{
    if (setenv(name, value.c_str(), 1) != 0) {
        throw_errno("environment variable {}", name);
    }
}

/// The user's own libraries come behind ours, but for one that must be the first. The loader looks for one without a
/// slash as it would for the program.
std::string preload_list(const Libraries& libraries, std::string others)
{
    std::string first = libraries.first;
    const std::string user = others.substr(0, others.find_first_of(": "));
    if (is_first_library(user)) {
        first = user;
        others.erase(0, user.size() + 1);
    }
    const std::string ours = libraries.preload.native();
    return (first.empty() ? "" : first + ":") + ours + (others.empty() ? "" : ":" + others);
}

}  // namespace

Libraries find_libraries()
{
    const fs::path directory = find_library_directory();
    Libraries libraries = {directory / preload_name, directory / archive_name};
    if (libraries.preload.native().find_first_of(" \t:") != std::string::npos) {
        fail(ExitCode::Failed,
             "{}: LD_PRELOAD cannot hold a path with spaces or colons; install critpath elsewhere, or "
             "point CRITPATH_LIBDIR to a link without them",
             libraries.preload.native());
    }
    return libraries;
}

void set_environment(const Libraries& libraries, const Options& options, const ProcessPlace& place,
                     const std::string& trace)
{
    const char* original = std::getenv("LD_PRELOAD");
    if (original != nullptr) {
        set("CRITPATH_ORIGINAL_LD_PRELOAD", original);
    } else {
        unsetenv("CRITPATH_ORIGINAL_LD_PRELOAD");
    }
    set("LD_PRELOAD", preload_list(libraries, environment_value("LD_PRELOAD")));
    set("CRITPATH_ARCHIVE_LIBRARY", libraries.archive);
    set("CRITPATH_FREQUENCY", std::to_string(options.frequency));
    set("CRITPATH_BUFFER_KB", std::to_string(options.buffer_kb));
    set("CRITPATH_CLOCK_PERIOD", std::to_string(options.clock_period));
    set("CRITPATH_TIMER", options.timer);
    set("CRITPATH_SAMPLER", options.sampler);
    set("CRITPATH_CALL_GRAPH", options.call_graph);
    set("CRITPATH_CALLPATH", options.callpath);
    set("CRITPATH_EVENTS", options.events);
    set("CRITPATH_COUNTERS", options.counters);
    set("CRITPATH_RANGE", options.range);
    set("CRITPATH_GROUPS", fmt::format("{}", fmt::join(options.groups, ",")));
    set("CRITPATH_QUIET", options.quiet ? "1" : "0");
    set("CRITPATH_LAUNCHER_RANK", std::to_string(place.rank));
    set("CRITPATH_TRACE", trace);
    if (trace.empty()) {
        unsetenv("CRITPATH_TRACE_OWNER");
    } else {
        set("CRITPATH_TRACE_OWNER", "1");
    }
}

}  // namespace critpath::launcher

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// cpcollect: checks everything that can be checked before the run, tells the preload library what to do, and becomes
// the application (or recovers a recording: recover_command.hpp). There is no supervisor, so the exit code and the
// signals are the application's own.
#include "collector/launcher/application.hpp"
#include "collector/launcher/counters.hpp"
#include "collector/launcher/elf_file.hpp"
#include "collector/launcher/end_of_job.hpp"
#include "collector/launcher/environment.hpp"
#include "collector/launcher/options.hpp"
#include "collector/launcher/preload.hpp"
#include "collector/launcher/recover_command.hpp"
#include "collector/launcher/trace_directory.hpp"
#include "formats/support/error.hpp"
#include "formats/support/standard_output.hpp"
#include "formats/support/terminal.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <unistd.h>

namespace critpath::launcher
{
namespace
{

/// All ranks mostly fail for the same reason. Rank 0 says it, and the job ends. Who is still alive a little later has a
/// reason of its own, or lives under a launcher that does not end jobs: then one process a node says it.
void report(const ProcessPlace& place, const std::string& message)
{
    using namespace std::chrono_literals;
    if (place.rank == 0) {
        fmt::print(stderr, "cpcollect: {}\n", printable(message));
        return;
    }
    std::this_thread::sleep_for(2s);
    if (place.rank_on_node == 0) {
        std::array<char, 256> host{};
        gethostname(host.data(), host.size() - 1);
        fmt::print(stderr, "cpcollect: rank {} on {}: {}\n", place.rank, host.data(), printable(message));
    }
}

void print_config(const Options& options, const ProcessPlace& place)
{
    nlohmann::ordered_json config;
    config["version"] = CRITPATH_VERSION;
    config["application"] = options.application;
    config["path"] = options.application.empty() ? "" : find_application(options.application.front(), place);
    const std::string name = options.application.empty() ? "app" : base_name(options.application.front());
    config["output"] = choose_directory(options.output, name, options.force).native();
    config["force"] = options.force;
    config["frequency"] = options.frequency;
    config["sampler"] = options.sampler;
    config["call_graph"] = options.call_graph;
    config["callpath"] = options.callpath;
    config["events"] = options.events;
    config["counters"] = options.counters;
    config["unavailable_counters"] = unavailable_counters(options.counters);
    config["groups"] = options.groups;
    config["range"] = options.range;
    config["buffer_kb"] = options.buffer_kb;
    config["clock_period_s"] = options.clock_period;
    config["timer"] = options.timer;
    config["quiet"] = options.quiet;
    config["rank"] = place.rank;
    config["ranks"] = place.ranks;
    const Libraries libraries = find_libraries();
    config["preload_library"] = libraries.preload.native();
    config["archive_library"] = libraries.archive.native();
    print_checked(config.dump(4, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

int execute(const std::string& path, const std::vector<std::string>& words)
{
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    execvp(path.c_str(), arguments.data());
    return errno;
}

/// Throws if the application could not be started.
[[noreturn]] void become(const Options& options, const ProcessPlace& place)
{
    const std::string path = find_application(options.application.front(), place);
    Libraries libraries = find_libraries();
    libraries.first = first_library(path);
    ClaimedDirectory trace{};
    if (place.rank == 0) {
        trace = claim_directory(options.output, base_name(options.application.front()), options.force);
        if (trace.refusal) {
            fmt::print(stderr, "cpcollect: {}: {}, nothing will be recorded; choose another directory with -o\n",
                       printable(trace.path.native()), trace.refusal.message());
            trace.path.clear();
        }
    }
    set_environment(libraries, options, place, trace.path.native());
    const int error = execute(path, options.application);
    if (trace.made) {
        std::error_code ignored;
        std::filesystem::remove(trace.path, ignored);
    }
    throw Unusable{error == ENOENT ? exit_not_found : exit_not_executable,
                   fmt::format("{}: {}; {}", path, std::system_category().message(error),
                               error == ENOENT ? "check the interpreter in its first line" : "check the file")};
}

/// Says why the application was not started, and ends the job. Returns the exit code.
int refuse(const ProcessPlace& place, int exit_code, const std::string& message)
{
    report(place, message);
    end_job(exit_code);
    return exit_code;
}

int run(int argc, const char* const* argv, const ProcessPlace& place)
{
    try {
        const Options options = parse_options(argc, argv, place.ranks);
        if (options.config) {
            print_config(options, place);
            return static_cast<int>(ExitCode::Done);
        }
        if (options.application.empty()) {
            fail(ExitCode::Usage,
                 "no application given; usage: mpirun -n N cpcollect [options] ./app (see cpcollect --help)");
        }
        become(options, place);
    } catch (const Unusable& unusable) {
        return refuse(place, unusable.exit_code, unusable.message);
    } catch (const Failure& failure) {
        return refuse(place, static_cast<int>(failure.code()), failure.what());
    } catch (const std::exception& error) {
        return refuse(place, static_cast<int>(ExitCode::Failed), error.what());
    }
}

}  // namespace
}  // namespace critpath::launcher

int main(int argc, char** argv)
{
    using namespace critpath::launcher;  // NOLINT(google-build-using-namespace)
    const ProcessPlace place = find_place();
    return is_recover_command(argc, argv) ? recover_command(argc, argv, place.rank) : run(argc, argv, place);
}

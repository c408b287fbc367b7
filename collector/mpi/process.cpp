// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the time between loading and MPI_Init: reads what the launcher asked for, hides the collector from the
// application's environment, starts sampling.
#include "collector/mpi/process.hpp"

#include "collector/mpi/clock.hpp"
#include "collector/mpi/environment.hpp"
#include "collector/mpi/exec.hpp"
#include "collector/mpi/files.hpp"
#include "collector/mpi/lifecycle.hpp"
#include "collector/mpi/pmpi.hpp"
#include "collector/mpi/thread.hpp"
#include "collector/mpi/unloads.hpp"
#include "collector/sampling/descriptors.hpp"
#include "collector/sampling/sampling.hpp"
#include "collector/sampling/withheld.hpp"
#include "formats/functions/functions.hpp"

#include <cstdlib>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace critpath::preload
{

constinit Process process;

namespace
{

constexpr char owner_name[] = "CRITPATH_TRACE_OWNER";

// Where the environment has `name`, or nullptr. Not getenv: shells bring one of their own, which does not work yet.
char** find_variable(const char* name)
{
    const std::size_t length = std::strlen(name);
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        if (std::strncmp(*variable, name, length) == 0 && (*variable)[length] == '=') {
            return variable;
        }
    }
    return nullptr;
}

const char* value_of(const char* name)
{
    char** variable = find_variable(name);
    return variable == nullptr ? nullptr : *variable + std::strlen(name) + 1;
}

template <std::size_t size>
void copy_setting(char (&to)[size], const char* name)
{
    const char* value = value_of(name);
    if (value != nullptr && std::strlen(value) < sizeof to) {
        std::strcpy(to, value);  // NOLINT(clang-analyzer-security.insecureAPI.strcpy): the length is checked
    }
}

std::uint64_t number_setting(const char* name, std::uint64_t otherwise)
{
    const char* value = value_of(name);
    return value == nullptr || *value == '\0' ? otherwise : std::strtoull(value, nullptr, 10);
}

bool is_setting(const char* name, const char* expected)
{
    const char* value = value_of(name);
    return value != nullptr && std::strcmp(value, expected) == 0;
}

// The launcher says "1" to the program that it starts. What that program starts inherits the number of its process
// instead, so that only the program itself speaks for the run, also after exec.
bool is_owner()
{
    static char mine[64];
    char** variable = find_variable(owner_name);
    if (variable == nullptr) {
        return false;
    }
    const Text text = Text() << owner_name << "=pid " << static_cast<std::uint64_t>(process.pid);
    std::strncpy(mine, text.c_str(), sizeof mine - 1);
    if (std::strcmp(value_of(owner_name), "1") == 0) {
        *variable = mine;
        return true;
    }
    return std::strcmp(*variable, mine) == 0;
}

CallPathMode callpath_setting(const char* value)
{
    if (value == nullptr || std::strcmp(value, "none") == 0) {
        return CallPathMode::None;
    }
    return std::strcmp(value, "site") == 0 ? CallPathMode::Site : CallPathMode::Full;
}

/// "fp", or with the size of the stack's copies behind it: "dwarf,16384".
sampling::Callers callers_setting(const char* value)
{
    sampling::Callers callers{spool::CallGraph::Dwarf};
    if (value == nullptr) {
        return callers;
    }
    const std::size_t length = std::strcspn(value, ",");
    for (std::uint32_t i = 0; i < std::size(spool::call_graph_names); ++i) {
        const char* const name = spool::call_graph_names[i];
        if (std::strlen(name) == length && std::strncmp(value, name, length) == 0) {
            callers.call_graph = static_cast<spool::CallGraph>(i);
        }
    }
    if (value[length] == ',') {
        constexpr unsigned long word = sizeof(std::uint64_t);
        const unsigned long bytes = std::strtoul(value + length + 1, nullptr, 10) / word * word;
        if (bytes > 0 && bytes <= spool::StackImage::largest_copy) {
            callers.stack_bytes = static_cast<std::uint32_t>(bytes);
        }
    }
    return callers;
}

sampling::Sampler sampler_setting()
{
    if (is_setting("CRITPATH_SAMPLER", "timer")) {
        return sampling::Sampler::Timer;
    }
    return is_setting("CRITPATH_SAMPLER", "perf") ? sampling::Sampler::Perf : sampling::Sampler::Auto;
}

// Some of functions::group_names, with commas between them.
std::uint32_t groups_setting(const char* value)
{
    if (value == nullptr) {
        return ~0U;
    }
    std::uint32_t groups = 1U << static_cast<unsigned>(functions::Group::Always);
    for (unsigned group = 1; group < functions::group_count; ++group) {
        groups |= std::strstr(value, functions::group_names[group]) != nullptr ? 1U << group : 0U;
    }
    return groups;
}

// "from:to", either may be missing, or "pcontrol".
void range_setting(Settings& settings, const char* value)
{
    if (value == nullptr || *value == '\0') {
        return;
    }
    if (std::strcmp(value, "pcontrol") == 0) {
        settings.starts_off = true;
        return;
    }
    char* end = nullptr;
    settings.range_begin = std::strtoull(value, &end, 10);
    if (*end == ':' && end[1] != '\0') {
        settings.range_end = std::strtoull(end + 1, nullptr, 10);
    }
}

void read_settings()
{
    Settings& settings = process.settings;
    copy_setting(settings.trace, "CRITPATH_TRACE");
    settings.is_told = value_of("CRITPATH_TRACE") != nullptr;
    copy_setting(settings.archive, "CRITPATH_ARCHIVE_LIBRARY");
    settings.frequency = static_cast<std::uint32_t>(number_setting("CRITPATH_FREQUENCY", 0));
    settings.buffer_kb = number_setting("CRITPATH_BUFFER_KB", settings.buffer_kb);
    settings.callpath = callpath_setting(value_of("CRITPATH_CALLPATH"));
    settings.sampler = sampler_setting();
    settings.callers = callers_setting(value_of("CRITPATH_CALL_GRAPH"));
    copy_setting(settings.events, "CRITPATH_EVENTS");
    copy_setting(settings.counters, "CRITPATH_COUNTERS");
    settings.groups = groups_setting(value_of("CRITPATH_GROUPS"));
    range_setting(settings, value_of("CRITPATH_RANGE"));
    settings.clock_period_s = number_setting("CRITPATH_CLOCK_PERIOD", settings.clock_period_s);
    settings.kernel_timer = is_setting("CRITPATH_TIMER", "kernel");
    settings.patience_s = number_setting("CRITPATH_PATIENCE", settings.patience_s);
    settings.quiet = number_setting("CRITPATH_QUIET", 0) != 0;
    settings.launcher_rank = number_setting("CRITPATH_LAUNCHER_RANK", 0);
    settings.owner = is_owner();
}

// A child that was forked before MPI_Init may still become the MPI program; one that was forked later records nothing.
void abandon_in_child()
{
    if (process.phase != Phase::Loaded) {
        process.phase = Phase::Abandoned;
    }
    abandon_unloads();
    if (process.sampling) {
        sampling::abandon_in_child();
        process.sampling = false;
    }
    process.pid = getpid();
    process.settings.owner = false;
    abandon_threads();
    process.lock = 0;
    process.lock_has_waiters = false;
}

// Wrappers for one MPI library stand before the functions of another: the program starts again, without them. Returns
// if that cannot be done: where the loader was called by name, it is what the kernel knows as the program.
void start_without_us(char** arguments)
{
    if (process.settings.launcher_rank == 0) {
        say_foreign();
    }
    static char path[PATH_MAX];
    if (getauxval(AT_BASE) == 0 || readlink("/proc/self/exe", path, sizeof path - 1) <= 0) {
        return;
    }
    if (process.settings.owner) {
        rmdir(process.settings.trace);
    }
    restore_environment();
    syscall(SYS_execve, path, arguments, environ);  // that one is not to be recorded
}

// Whether the kernel trusts the time stamp counter, which it has tested on all processors.
bool kernel_counts_ticks()
{
    char source[16] = {};
    sampling::read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source);
    return std::strcmp(source, "tsc\n") == 0;
}

// After the libraries that the application is linked to, before its main(). The loader of glibc passes what main()
// gets.
__attribute__((constructor)) void load(int /*argc*/, char** argv, char** /*environment*/)
{
    const OwnWork guard;
    process.start = now();
    process.start_realtime = nanoseconds(CLOCK_REALTIME);
    process.pid = getpid();
    if (may_open_files()) {
        process.stderr_copy = sampling::move_descriptor_up(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
        process.stderr_file = sampling::identity_of(STDERR_FILENO);
    }
    read_settings();
    if (!process.settings.kernel_timer && kernel_counts_ticks()) {
        start_ticks();
    }
    if (loaded_mpi_is_foreign()) {
        start_without_us(argv);
    }
    find_exec();
    start_threads();
    pthread_atfork(nullptr, nullptr, abandon_in_child);
    // A program without MPI may be a shell or an interpreter that starts the application: it keeps the environment.
    if (mpi_is_loaded()) {
        restore_environment();
    }
    if (process.settings.frequency > 0 && may_open_files()) {
        process.sampling = true;
        start_unloads();
        sampling::start_process({process.settings.frequency, clock_id, process.settings.callers,
                                 process.settings.sampler, process.settings.events});
        sampling::start_thread(0);
        // A program without MPI may make a user namespace for the one that it starts, and must then be one thread.
        if (mpi_is_loaded()) {
            sampling::start_helper();
        }
    }
    process.loaded = now();
}

__attribute__((destructor)) void unload()
{
    const OwnWork guard;
    if (process.phase != Phase::Abandoned && process.pid == getpid()) {
        end_of_process();
    }
}

}  // namespace

bool may_open_files()
{
    constexpr rlim_t fewest = 32;
    rlimit limit = {};
    return getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= fewest;
}

// Nobody may read what we say, or the file that takes it may be as long as it may get: no signal of the application's.
void say(const Text& line)
{
    // The application may have closed the copy, and have something else in its place.
    const bool is_copied = process.stderr_copy >= 0 && sampling::is_file(process.stderr_copy, process.stderr_file);
    const int fd = is_copied ? process.stderr_copy : STDERR_FILENO;
    if (!is_copied && process.stderr_copy >= 0 && !sampling::is_file(fd, process.stderr_file)) {
        return;
    }
    const sampling::Withheld pipe(SIGPIPE);
    const sampling::Withheld size(SIGXFSZ);
    Text clean = line;
    clean.replace_controls();
    char end[] = "\n";
    iovec parts[] = {{const_cast<char*>(clean.c_str()), clean.size()}, {end, 1}};
    for (iovec* part = parts; part != std::end(parts);) {
        // Not writev(), which is a cancellation point, as the application's call is not.
        const ssize_t written = syscall(SYS_writev, fd, part, static_cast<int>(std::end(parts) - part));
        if (written <= 0) {
            return;
        }
        auto rest = static_cast<std::size_t>(written);
        for (; part != std::end(parts) && rest >= part->iov_len; ++part) {
            rest -= part->iov_len;
        }
        if (part != std::end(parts)) {
            part->iov_base = static_cast<char*>(part->iov_base) + rest;
            part->iov_len -= rest;
        }
    }
}

}  // namespace critpath::preload

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/recover.hpp"

#include "collector/archive/communication.hpp"
#include "collector/archive/rank_list.hpp"
#include "collector/archive/spool_check.hpp"
#include "collector/archive/spool_copy.hpp"
#include "formats/support/error.hpp"
#include "formats/support/terminal.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace critpath::archive
{

namespace fs = std::filesystem;

namespace
{

constexpr std::int32_t largest_size = 1 << 24;

/// In a spool that stays where it is although the archive is made.
constexpr const char* kept_mark = "kept";

fs::path spool_of(const fs::path& trace)
{
    return trace / "spool";
}

// ------------------------------------------------------------------------------------------------- one at a time

/// Two recoveries of one trace would write into each other's files.
class Lock
{
public:
    explicit Lock(const fs::path& directory) : fd_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    {
        if (fd_ < 0) {
            throw_errno("{}", directory.native());
        }
        // Some file systems have no locks; then the user is trusted.
        if (::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            ::close(fd_);
            fail(ExitCode::Failed, "{}: is being recovered by another process; wait for it", directory.native());
        }
    }
    ~Lock() { ::close(fd_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    int fd_;
};

// ------------------------------------------------------------------------------------------------ what there is

/// The threads that have files, by rank.
using Files = std::map<std::int32_t, std::set<std::uint32_t>>;

/// "<rank>.<thread>.<kind>".
bool add_file(const std::string& name, Files& files)
{
    const std::string_view kind = std::string_view(name).substr(std::min(name.size(), name.rfind('.')));
    if (kind != ".calls" && kind != ".samples") {
        return false;
    }
    std::int32_t rank = -1;
    std::uint32_t thread = 0;
    const char* const end = name.data() + name.size();
    const auto first = std::from_chars(name.data(), end, rank);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.' || rank < 0 || rank >= largest_size) {
        return false;
    }
    const auto second = std::from_chars(first.ptr + 1, end, thread);
    if (second.ec != std::errc() || std::string_view(second.ptr, end) != kind) {
        return false;
    }
    files[rank].insert(thread);
    return true;
}

/// "<rank>.maps", "<rank>.unloads" or "<rank>.files".
bool is_of_process(std::string_view name)
{
    const std::size_t end = name.find_first_not_of("0123456789");
    const std::string_view kind = end == name.npos ? "" : name.substr(end);
    return end != 0 && (kind == ".maps" || kind == ".unloads" || kind == ".files");
}

Files list_files(const fs::path& spool)
{
    Files files;
    std::error_code error;
    for (fs::directory_iterator entry(spool, error), end; !error && entry != end; entry.increment(error)) {
        add_file(entry->path().filename().native(), files);
    }
    if (error) {
        fail(ExitCode::Failed, "{}: {}; check the permissions", spool.native(), error.message());
    }
    return files;
}

struct Process {
    std::int32_t rank = 0;
    std::int64_t pid = 0;
    std::string host, boot_id;
};

/// What the headers of all files say.
struct Survey {
    std::int32_t size = 0;                                       // ranks in all
    std::vector<Process> processes;                              // of which something can be read
    std::map<std::int32_t, std::vector<std::uint32_t>> threads;  // of these
    std::vector<std::string> damage;
};

Survey survey(const fs::path& spool)
{
    Survey result;
    std::map<std::int32_t, std::size_t> sizes;
    std::map<std::int32_t, std::int32_t> size_of;
    for (const auto& [rank, threads] : list_files(spool)) {
        const std::vector<std::uint32_t> list(threads.begin(), threads.end());
        if (const auto process = read_remains(spool.native(), rank, list, result.damage)) {
            const spool::SpoolHeader& header = process->threads.front().header();
            ++sizes[header.size];
            size_of[rank] = header.size;
            result.processes.push_back({rank, header.pid, header.host, header.boot_id});
            result.threads[rank] = list;
        }
    }
    // A damaged header, or a file of another run, is outvoted.
    const auto most = std::ranges::max_element(sizes, {}, [](const auto& entry) { return entry.second; });
    result.size = most == sizes.end() ? 0 : most->first;
    if (result.size <= 0 || result.size > largest_size) {
        const std::string cause = result.damage.empty() ? "no file with records" : result.damage.front();
        fail(ExitCode::BadTrace, "{}: nothing can be read: {}; record the run again", spool.native(), cause);
    }
    for (const auto& [rank, size] : size_of) {
        if (size != result.size) {
            result.damage.push_back(fmt::format("{}: of a run with {} ranks, not {}",
                                                (spool / fmt::format("{}.0.calls", rank)).native(), size, result.size));
            result.threads.erase(rank);
        }
    }
    return result;
}

// ------------------------------------------------------------------------------------------ who is still running

std::string read_line(const fs::path& path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string own_host()
{
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    return name;
}

/// Whether the process `pid` of this host was started by cpcollect; numbers come back after a while. A process that has
/// ended and was not waited for has no memory any more.
bool was_started_by_us(std::int64_t pid)
{
    if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno != EPERM) {
        return false;
    }
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    if (!maps) {
        return errno == EACCES || errno == EPERM;
    }
    for (std::string line; std::getline(maps, line);) {
        if (line.find("libcritpath-preload") != std::string::npos) {
            return true;
        }
    }
    return maps.bad() && errno != ESRCH;
}

/// Launchers do not wait for all that they kill, and a process takes a moment to end.
bool is_recording(std::int64_t pid)
{
    using namespace std::chrono_literals;
    const auto patience = std::chrono::steady_clock::now() + 2s;
    while (was_started_by_us(pid)) {
        if (std::chrono::steady_clock::now() > patience) {
            return true;
        }
        std::this_thread::sleep_for(20ms);
    }
    return false;
}

void check_processes(const fs::path& trace, const Survey& survey, const RecoverOptions& options,
                     std::vector<std::string>& notes)
{
    if (options.force) {
        return;
    }
    const std::string host = own_host();
    const std::string boot_id = read_line("/proc/sys/kernel/random/boot_id");
    std::set<std::string> others;
    for (const Process& process : survey.processes) {
        if (process.host != host) {
            others.insert(process.host);
        } else if (process.boot_id == boot_id && is_recording(process.pid)) {
            fail(ExitCode::Usage,
                 "{}: rank {} is still running (process {}); wait until the application has ended, or end it, then "
                 "cpcollect recover {}",
                 trace.native(), process.rank, process.pid, shell_quoted(trace.native()));
        }
    }
    if (others.empty()) {
        return;
    }
    const std::string where =
        others.size() == 1 ? *others.begin() : fmt::format("{} and {} other hosts", *others.begin(), others.size() - 1);
    if (options.only_local) {
        fail(ExitCode::BadTrace,
             "{}: was recorded on {}, and whether it still is cannot be seen from here; if the application has ended: "
             "cpcollect recover {}",
             trace.native(), where, shell_quoted(trace.native()));
    }
    notes.push_back(fmt::format("{}: was recorded on {}; that no process there is still running was not checked",
                                trace.native(), where));
}

/// Nobody has made sure that these have ended.
void copy_what_may_be_written(const Survey& survey, SpoolCopy& copies)
{
    const std::string host = own_host();
    const std::string boot_id = read_line("/proc/sys/kernel/random/boot_id");
    for (const Process& process : survey.processes) {
        const auto threads = survey.threads.find(process.rank);
        const bool may_run = process.host != host || (process.boot_id == boot_id && was_started_by_us(process.pid));
        if (may_run && threads != survey.threads.end()) {
            copies.add(process.rank, threads->second);
        }
    }
}

// --------------------------------------------------------------------------------------------------- the archive

/// What an archive library that did not finish has left behind.
void remove_archive(const fs::path& trace)
{
    const otf2::ArchiveFiles files{trace.native()};
    // The anchor first: without it there is no archive.
    for (const std::string& path : {files.anchor(), files.definitions(), files.event_directory()}) {
        std::error_code error;
        if (fs::exists(fs::symlink_status(path, error)) &&
            fs::remove_all(path, error) == static_cast<std::uintmax_t>(-1)) {
            fail(ExitCode::Failed, "{}: cannot be removed to make place: {}; check the permissions", path,
                 error.message());
        }
    }
}

void remove_spool(const fs::path& spool, std::vector<std::string>& notes)
{
    std::error_code error;
    std::vector<fs::path> paths;
    for (fs::directory_iterator entry(spool, error), end; !error && entry != end; entry.increment(error)) {
        if (is_spool_file(entry->path().filename().native())) {
            paths.push_back(entry->path());
        }
    }
    for (const fs::path& path : paths) {
        fs::remove_all(path, error);
    }
    fs::remove(spool, error);
    if (error) {
        notes.push_back(fmt::format("{}: {}; it is no longer needed", spool.native(), error.message()));
    }
}

std::vector<std::int32_t> missing_ranks(const Survey& survey)
{
    std::vector<std::int32_t> missing;
    for (std::int32_t rank = 0; rank < survey.size; ++rank) {
        if (!survey.threads.contains(rank)) {
            missing.push_back(rank);
        }
    }
    return missing;
}

/// What is wrong with the records of each rank that is read.
class Losses
{
public:
    explicit Losses(fs::path spool) : spool_(std::move(spool)) {}

    /// Each time that the rank is read, by whichever thread. What was found wrong before is not said again.
    std::optional<ProcessSpool> read(const fs::path& directory, std::int32_t rank,
                                     const std::vector<std::uint32_t>& threads)
    {
        std::vector<std::string> known;
        std::vector<std::string> damage;
        std::optional<ProcessSpool> process = read_remains(directory.native(), rank, threads, known);
        bool has_records = process.has_value();
        if (process) {
            read_maps(directory.native(), rank, *process);
            if (process->maps.empty()) {
                damage.push_back(fmt::format("{}: missing or empty: names of functions of rank {}",
                                             (spool_ / fmt::format("{}.maps", rank)).native(), rank));
            }
            has_records = check_records(spool_.native(), rank, *process, damage);
        }
        if (!damage.empty()) {
            keep(spool_);
        }
        const std::lock_guard lock(mutex_);
        damage_[rank] = std::move(damage);
        if (!has_records) {
            unreadable_.insert(rank);
        }
        return has_records ? std::move(process) : std::nullopt;
    }

    /// Before there is an archive beside it.
    static void keep(const fs::path& spool) { std::ofstream(spool / kept_mark); }

    [[nodiscard]] std::vector<std::string> damage() const
    {
        std::vector<std::string> all;
        for (const auto& [rank, lines] : damage_) {
            all.insert(all.end(), lines.begin(), lines.end());
        }
        return all;
    }
    /// Of which there are files, but nothing that can be read.
    [[nodiscard]] const std::set<std::int32_t>& unreadable() const { return unreadable_; }

private:
    fs::path spool_;
    std::mutex mutex_;
    std::map<std::int32_t, std::vector<std::string>> damage_;
    std::set<std::int32_t> unreadable_;
};

void note_damage(const std::vector<std::string>& damage, std::vector<std::string>& notes)
{
    constexpr std::size_t most_lines = 10;
    for (std::size_t i = 0; i < std::min(damage.size(), most_lines); ++i) {
        notes.push_back(damage[i] + "; left out");
    }
    if (damage.size() > most_lines) {
        notes.push_back(fmt::format("{} more damaged files; left out", damage.size() - most_lines));
    }
}

void note_missing(const fs::path& spool, std::vector<std::int32_t> missing, const std::set<std::int32_t>& unreadable,
                  std::vector<std::string>& notes)
{
    missing.insert(missing.end(), unreadable.begin(), unreadable.end());
    std::ranges::sort(missing);
    if (!missing.empty()) {
        notes.push_back(
            fmt::format("rank{} {}: no records in {}; if they are elsewhere, copy them there and repeat this "
                        "with --force",
                        missing.size() == 1 ? "" : "s", list_ranks(missing), spool.native()));
    }
}

/// Returns whether there are any: their functions have names if somebody brings the files back.
bool note_changed_files(const fs::path& trace, const std::set<std::string>& files, std::vector<std::string>& notes)
{
    constexpr std::size_t most_lines = 5;
    std::size_t lines = 0;
    for (const std::string& file : files) {
        if (++lines > most_lines) {
            notes.push_back(fmt::format("{} more such files", files.size() - most_lines));
            break;
        }
        std::error_code error;
        notes.push_back(
            fmt::format("{}: {}, so that its functions have no names; put the one that ran back (cp -p), then "
                        "cpcollect recover --force {}",
                        file, fs::exists(file, error) ? "is another file than the one that ran" : "is gone",
                        shell_quoted(trace.native())));
    }
    return !files.empty();
}

}  // namespace

bool is_spool_file(const std::string& name)
{
    Files ignored;
    return add_file(name, ignored) || is_of_process(name) || name == kept_mark || name == spool_copy_name;
}

bool is_archive(const fs::path& trace)
{
    std::error_code error;
    const std::uintmax_t size = fs::file_size(otf2::ArchiveFiles{trace.native()}.anchor(), error);
    return !error && size > 0;
}

bool remove_leftovers(const fs::path& trace, const RecoverOptions& options, std::vector<std::string>& notes)
{
    std::error_code error;
    const fs::path spool = spool_of(trace);
    if (options.keep || !fs::is_directory(spool, error) || fs::exists(spool / kept_mark, error)) {
        return false;
    }
    const Lock lock(spool);
    if (!list_files(spool).empty()) {
        check_processes(trace, survey(spool), options, notes);
    }
    remove_spool(spool, notes);
    return true;
}

bool can_be_recovered(const fs::path& trace)
{
    std::error_code error;
    return !is_archive(trace) && fs::is_directory(spool_of(trace), error);
}

bool is_abandoned(const fs::path& trace)
try {
    std::vector<std::string> ignored;
    RecoverOptions options;
    options.only_local = true;
    if (!can_be_recovered(trace)) {
        return false;
    }
    check_processes(trace, survey(spool_of(trace)), options, ignored);
    return can_be_recovered(trace);  // who was waited for may have made the archive
} catch (const Failure&) {
    return false;
}

Recovered recover(const fs::path& trace, const RecoverOptions& options)
{
    const fs::path spool = spool_of(trace);
    const Lock lock(spool);
    Recovered result;
    check_processes(trace, survey(spool), options, result.notes);
    // Who was waited for may have come to its end, and has left less behind, or nothing.
    if (!options.force && is_archive(trace)) {
        Recovered made;
        made.is_made_already = true;
        return made;
    }
    const Survey found = survey(spool);
    const std::vector<std::int32_t> missing = missing_ranks(found);
    result.is_spool_kept = !found.damage.empty() || !missing.empty() || options.keep;
    remove_archive(trace);
    if (result.is_spool_kept) {
        Losses::keep(spool);
    }

    SpoolCopy copies(spool);
    if (options.force) {
        copy_what_may_be_written(found, copies);
    }
    Losses losses(spool);
    SessionRequest request;
    request.trace = trace.native();
    for (std::int32_t rank = 0; rank < found.size; ++rank) {
        request.ranks.push_back(rank);
    }
    request.read = [&](int rank) {
        const auto threads = found.threads.find(rank);
        return threads == found.threads.end() ? std::nullopt
                                              : losses.read(copies.directory_of(rank), rank, threads->second);
    };
    const NoCommunication alone;
    Session session(std::move(request), alone);
    try {
        result.totals = session.run();
    } catch (const Agreed& failure) {
        const std::string message = failure.what();
        fail(ExitCode::Failed, "{}{}", message,
             message.find(';') == std::string::npos ? fmt::format("; the recording is kept in {}", spool.native())
                                                    : "");
    }
    std::vector<std::string> damage = found.damage;
    const std::vector<std::string> more = losses.damage();
    damage.insert(damage.end(), more.begin(), more.end());
    note_damage(damage, result.notes);
    note_missing(spool, missing, losses.unreadable(), result.notes);
    result.is_spool_kept |= !more.empty();
    if (result.totals.damaged_records > 0) {
        result.notes.push_back(fmt::format("{} records stand in or behind damaged parts of the files in {}; left out",
                                           result.totals.damaged_records, spool.native()));
        result.is_spool_kept = true;
        Losses::keep(spool);
    }
    if (note_changed_files(trace, session.unreadable_files(), result.notes)) {
        result.is_spool_kept = true;
        Losses::keep(spool);
    }
    result.ranks = found.size;
    result.incomplete = session.incomplete();
    if (!session.inconsistent().empty()) {
        result.notes.push_back(fmt::format("ranks disagree about communicators: {}; the analysis of operations on them "
                                           "will be wrong: please report this defect of critpath",
                                           session.inconsistent()));
    }
    if (!result.is_spool_kept) {
        remove_spool(spool, result.notes);
    }
    return result;
}

}  // namespace critpath::archive

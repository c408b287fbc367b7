// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/spool_reader.hpp"

#include "formats/functions/functions.hpp"
#include "formats/otf2/time_range.hpp"
#include "formats/support/error.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace critpath::archive
{

namespace
{

class WrongVersion : public Failure
{
public:
    explicit WrongVersion(const std::string& message) : Failure(ExitCode::BadTrace, message) {}
};

template <std::size_t N>
void terminate(char (&text)[N])
{
    text[N - 1] = '\0';
}

bool is_text(const char* text)
{
    return std::all_of(text, text + std::strlen(text), [](unsigned char c) { return c >= ' ' && c < 0x7f; });
}

bool makes_sense(const spool::SpoolHeader& header, int rank, std::uint32_t thread)
{
    constexpr auto latest = static_cast<std::uint64_t>(otf2::farthest_time / 2);
    const bool has_times = header.process_start < latest && header.thread_start < latest &&
                           (header.closed == 0 || header.thread_end < latest);
    return header.rank == rank && header.size > rank && header.thread == static_cast<std::int32_t>(thread) &&
           has_times && is_text(header.host) && is_text(header.boot_id) && is_text(header.samples.event);
}

// Another version's files stop everything: it is not damage, and another version can read them.
std::optional<SpoolFile> open_remains(const std::string& path, int rank, std::uint32_t thread,
                                      std::vector<std::string>& damage)
{
    try {
        std::optional<SpoolFile> file = SpoolFile::open(path);
        if (file && makes_sense(file->header(), rank, thread)) {
            return file;
        }
        if (file) {
            damage.push_back(path + ": its header is of another file, or damaged");
        } else if (std::error_code ignored; std::filesystem::exists(path, ignored)) {
            damage.push_back(path + ": empty");
        }
    } catch (const WrongVersion&) {
        throw;
    } catch (const Failure& failure) {
        damage.emplace_back(failure.what());
    }
    return std::nullopt;
}

/// Whether that is a line of <rank>.files.
bool is_listed(std::string_view line)
{
    const std::size_t end = line.find_first_not_of("0123456789");
    return end != 0 && end != line.npos && (line.substr(end) == ".calls" || line.substr(end) == ".samples");
}

/// Files that the process has had; but the calls of thread 0.
void add_missing(const std::string& directory, int rank, std::vector<std::string>& damage)
{
    std::ifstream list(fmt::format("{}/{}.files", directory, rank));
    for (std::string line; std::getline(list, line) && !list.eof();) {  // the last one may have been cut
        const std::string path = fmt::format("{}/{}.{}", directory, rank, line);
        std::error_code ignored;
        if (is_listed(line) && line != "0.calls" && !std::filesystem::exists(path, ignored)) {
            damage.push_back(path + ": missing");
        }
    }
}

}  // namespace

std::optional<SpoolFile> SpoolFile::open(const std::string& path)
{
    std::optional<Mapping> mapping = Mapping::open(path);
    if (!mapping || mapping->bytes().size() < spool::header_size) {
        return std::nullopt;
    }
    spool::SpoolHeader header;
    std::memcpy(&header, mapping->bytes().data(), sizeof header);
    if (header.magic == 0) {
        return std::nullopt;
    }
    if (header.magic != spool::magic) {
        fail(ExitCode::BadTrace, "{}: not a spool file", path);
    }
    if (header.version != spool::version || header.functions_hash != functions::table_hash()) {
        throw WrongVersion(
            fmt::format("{}: written by another version of critpath; use the version that recorded it", path));
    }
    terminate(header.host);
    terminate(header.boot_id);
    terminate(header.command);
    terminate(header.samples.event);
    for (auto& counter : header.counters) {
        terminate(counter);
    }
    for (auto& event : header.refused_events) {
        terminate(event.name);
    }
    header.counter_count = std::min<std::uint32_t>(header.counter_count, spool::max_counters);
    return SpoolFile(std::move(*mapping), header);
}

RecordCursor SpoolFile::records() const
{
    return RecordCursor(stage(), body().subspan(stage().size()), header_.first_record);
}

RecordCursor ThreadSpool::records() const
{
    RecordCursor cursor = calls ? calls->records() : RecordCursor({});
    cursor.stop_behind(trusted_records);
    return cursor;
}

std::string_view ThreadSpool::name() const
{
    for (const std::optional<SpoolFile>* file : {&calls, &samples}) {
        if (*file && (*file)->header().thread_name[0] != '\0') {
            const auto& name = (*file)->header().thread_name;
            return {name, strnlen(name, sizeof name)};
        }
    }
    return {};
}

void read_maps(const std::string& directory, int rank, ProcessSpool& process)
{
    const auto text = [&](const char* kind) {
        // Not mapped: where a disk was full it may have holes, which are a signal then.
        std::ifstream file(fmt::format("{}/{}.{}", directory, rank, kind), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    process.maps = text("maps");
    process.unloads = text("unloads");
}

// A directory listing would cost every process the files of all others.
ProcessSpool read_process(const std::string& directory, int rank, int threads)
{
    ProcessSpool process;
    for (std::uint32_t thread = 0; thread < static_cast<std::uint32_t>(threads); ++thread) {
        const std::string base = fmt::format("{}/{}.{}", directory, rank, thread);
        ThreadSpool spool{thread, SpoolFile::open(base + ".calls"), SpoolFile::open(base + ".samples")};
        if (spool.calls || spool.samples) {  // a thread that neither called MPI nor was sampled has left nothing
            process.threads.push_back(std::move(spool));
        }
    }
    if (process.threads.empty() || process.threads.front().thread != 0) {
        fail(ExitCode::Failed, "{}/{}.0.calls: missing or empty; record the run again", directory, rank);
    }
    read_maps(directory, rank, process);
    return process;
}

std::optional<ProcessSpool> read_remains(const std::string& directory, int rank,
                                         const std::vector<std::uint32_t>& threads, std::vector<std::string>& damage)
{
    ProcessSpool process;
    for (const std::uint32_t thread : threads) {
        const auto open = [&](const char* kind) {
            return open_remains(fmt::format("{}/{}.{}.{}", directory, rank, thread, kind), rank, thread, damage);
        };
        ThreadSpool spool{thread, open("calls"), open("samples")};
        if (spool.calls || spool.samples) {
            process.threads.push_back(std::move(spool));
        }
    }
    add_missing(directory, rank, damage);
    // Thread 0 has such a file from the beginning on. Without it the process would seem to have called nothing.
    const std::string first = fmt::format("{}/{}.0.calls", directory, rank);
    if (std::error_code ignored; !std::filesystem::exists(first, ignored)) {
        damage.push_back(first + ": missing");
    }
    if (process.threads.empty() || process.threads.front().thread != 0 || !process.threads.front().calls) {
        return std::nullopt;
    }
    return process;
}

}  // namespace critpath::archive

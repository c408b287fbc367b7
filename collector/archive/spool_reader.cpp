// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/spool_reader.hpp"

#include "formats/functions/functions.hpp"
#include "formats/support/error.hpp"

#include <cstring>

namespace critpath::archive
{

namespace
{

// Threads that neither called MPI nor were sampled leave no file; a directory listing would cost every process the
// files of all others.
constexpr std::uint32_t longest_gap = 256;

template <std::size_t N>
void terminate(char (&text)[N])
{
    text[N - 1] = '\0';
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
        fail(ExitCode::BadTrace, "{}: written by another version of critpath; use the version that recorded it", path);
    }
    terminate(header.host);
    terminate(header.boot_id);
    terminate(header.command);
    terminate(header.samples.event);
    return SpoolFile(std::move(*mapping), header);
}

ProcessSpool read_process(const std::string& directory, int rank)
{
    ProcessSpool process;
    std::uint32_t missing = 0;
    for (std::uint32_t thread = 0; missing < longest_gap; ++thread) {
        const std::string base = fmt::format("{}/{}.{}", directory, rank, thread);
        ThreadSpool spool{thread, SpoolFile::open(base + ".calls"), SpoolFile::open(base + ".samples")};
        if (spool.calls || spool.samples) {
            missing = 0;
            process.threads.push_back(std::move(spool));
        } else {
            ++missing;
        }
    }
    if (process.threads.empty() || process.threads.front().thread != 0) {
        fail(ExitCode::Failed, "{}/{}.0.calls: missing or empty; record the run again", directory, rank);
    }
    if (const std::optional<Mapping> maps = Mapping::open(fmt::format("{}/{}.maps", directory, rank))) {
        process.maps.assign(reinterpret_cast<const char*>(maps->bytes().data()), maps->bytes().size());
    }
    return process;
}

}  // namespace critpath::archive

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the reading of spool files: which belong to a process, whether they can be trusted, and how they ended.
#pragma once

#include "collector/archive/mapping.hpp"
#include "collector/archive/record_cursor.hpp"
#include "formats/spool/record.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::archive
{

/// A checked .calls or .samples file.
class SpoolFile
{
public:
    /// Nothing if there is no such file, or if it is shorter than its header (its writer died at once). Throws
    /// Failure (BadTrace) if it is no spool file of this version and function table.
    static std::optional<SpoolFile> open(const std::string& path);

    [[nodiscard]] const spool::SpoolHeader& header() const { return header_; }
    /// What follows the header, as far as it can be trusted.
    [[nodiscard]] std::span<const std::byte> body() const
    {
        const auto all = mapping_.bytes().subspan(spool::header_size);
        return all.first(std::min(all.size(), trusted_));
    }
    /// The rest is damaged.
    void trust(std::size_t bytes_of_body) { trusted_ = bytes_of_body; }
    /// Of a .calls file.
    [[nodiscard]] std::span<const std::byte> stage() const
    {
        return body().first(std::min<std::uint64_t>(header_.stage_bytes, body().size()));
    }
    /// Of a .calls file.
    [[nodiscard]] RecordCursor records() const;

private:
    SpoolFile(Mapping mapping, const spool::SpoolHeader& header) : mapping_(std::move(mapping)), header_(header) {}

    Mapping mapping_;
    spool::SpoolHeader header_;
    std::size_t trusted_ = std::numeric_limits<std::size_t>::max();
};

struct ThreadSpool {
    std::uint32_t thread = 0;
    std::optional<SpoolFile> calls;
    std::optional<SpoolFile> samples;
    std::uint64_t trusted_records = std::numeric_limits<std::uint64_t>::max();  // of `calls`: the others are damaged,
    std::uint64_t damaged_records = 0;                                          // or behind damage: these

    /// All records of the thread that can be trusted.
    [[nodiscard]] RecordCursor records() const;
    /// The process did not end before its recording did.
    [[nodiscard]] bool is_closed() const { return header().closed != 0; }

    /// Of whichever file there is.
    [[nodiscard]] const spool::SpoolHeader& header() const { return (calls ? calls : samples)->header(); }
    /// What the thread called itself at its end; empty if that is not known.
    [[nodiscard]] std::string_view name() const;
    /// How the thread was sampled; the .samples file knows best.
    [[nodiscard]] const spool::SampleFormat& sampling() const
    {
        return (samples ? samples->header() : calls->header()).samples;
    }
};

struct ProcessSpool {
    std::vector<ThreadSpool> threads;  // by thread; at least one
    std::string maps;                  // text of <rank>.maps; empty if there is none
    std::string unloads;               // text of <rank>.unloads; likewise
    bool is_own = false;               // of the process that reads it
};

/// All spool files of one process that has just closed them, of `threads` threads at most. Throws Failure.
ProcessSpool read_process(const std::string& directory, int rank, int threads);

/// Fills in `maps` and `unloads`.
void read_maps(const std::string& directory, int rank, ProcessSpool& process);

/// What can be read of the spool files of one process that may have died, or whose files may have been damaged since;
/// its `maps` and `unloads` are left to read_maps(). `threads`: that have files, ascending. Nothing if the calls of
/// thread 0 cannot be read. What is wrong with a file becomes a line of `damage`: "file: cause". Of the files only the
/// headers are looked at here (spool_check.hpp).
std::optional<ProcessSpool> read_remains(const std::string& directory, int rank,
                                         const std::vector<std::uint32_t>& threads, std::vector<std::string>& damage);

}  // namespace critpath::archive

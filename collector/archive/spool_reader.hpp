// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the reading of spool files: which belong to a process, whether they can be trusted, and where they end. A
// process may have died while it wrote, so that reading stops at what was never finished.
#pragma once

#include "collector/archive/mapping.hpp"
#include "formats/spool/record.hpp"

#include <cstdint>
#include <optional>
#include <string>
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
    [[nodiscard]] std::span<const std::byte> body() const { return mapping_.bytes().subspan(spool::header_size); }

private:
    SpoolFile(Mapping mapping, const spool::SpoolHeader& header) : mapping_(std::move(mapping)), header_(header) {}

    Mapping mapping_;
    spool::SpoolHeader header_;
};

struct ThreadSpool {
    std::uint32_t thread = 0;
    std::optional<SpoolFile> calls;
    std::optional<SpoolFile> samples;

    /// Of whichever file there is.
    [[nodiscard]] const spool::SpoolHeader& header() const { return calls ? calls->header() : samples->header(); }
    /// How the thread was sampled; the .samples file knows best.
    [[nodiscard]] const spool::SampleFormat& sampling() const
    {
        return (samples ? samples->header() : calls->header()).samples;
    }
};

struct ProcessSpool {
    std::vector<ThreadSpool> threads;  // by thread; at least one
    std::string maps;                  // text of <rank>.maps; empty if there is none
};

/// All spool files of one process. Throws Failure.
ProcessSpool read_process(const std::string& directory, int rank);

/// Steps through the records of a .calls file.
class RecordCursor
{
public:
    explicit RecordCursor(std::span<const std::byte> body) : next_(body.data()), end_(body.data() + body.size()) {}

    /// Kind of the record at the cursor; Empty at the end, which is also where a record makes no sense.
    [[nodiscard]] spool::RecordKind kind() const
    {
        if (end_ - next_ < static_cast<std::ptrdiff_t>(sizeof(spool::Record))) {
            return spool::RecordKind::Empty;
        }
        const auto kind = static_cast<spool::RecordKind>(*next_);
        return kind <= spool::RecordKind::Tool ? kind : spool::RecordKind::Empty;
    }

    /// The record at the cursor, which moves on. T must be the struct of kind().
    template <class T>
    const T& take()
    {
        static_assert(sizeof(T) == sizeof(spool::Record));
        const auto* record = reinterpret_cast<const T*>(next_);
        next_ += sizeof(T);
        return *record;
    }

    void skip() { next_ += sizeof(spool::Record); }

private:
    const std::byte* next_;
    const std::byte* end_;
};

}  // namespace critpath::archive

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns segments.bin, attribution.bin, counts.bin, totals.bin and computed.bin: what the processes of a replay write in
// parallel, and the mapped readers (formats/FORMAT.md).
#pragma once

#include "analysis/model/attribution.hpp"
#include "analysis/model/counts.hpp"
#include "analysis/model/path.hpp"
#include "analysis/model/profile.hpp"
#include "analysis/model/totals.hpp"
#include "formats/result/record_file.hpp"

#include <cstdint>
#include <filesystem>
#include <span>

namespace critpath::result
{

/// The directory of the result inside a trace, and the files in it.
inline constexpr const char* directory_name = "critpath";
inline constexpr const char* database_name = "critpath.sqlite";

inline constexpr RecordFormat segments_format = {
    "segments.bin", "segments", {'C', 'P', 'S', 'E', 'G', 'M', 'T', '1'}, 3, sizeof(model::Segment)};
inline constexpr RecordFormat attribution_format = {
    "attribution.bin", "attributions", {'C', 'P', 'A', 'T', 'T', 'R', 'B', '1'}, 3, sizeof(model::Attribution)};

inline constexpr RecordFormat totals_format = {
    "totals.bin", "totals", {'C', 'P', 'T', 'O', 'T', 'A', 'L', '1'}, 2, sizeof(model::TotalPart)};

inline constexpr RecordFormat computed_format = {
    "computed.bin", "computation", {'C', 'P', 'C', 'O', 'M', 'P', 'U', '1'}, 1, sizeof(model::ComputedParts)};

/// Each record has a count of so many events.
constexpr RecordFormat counts_format(std::size_t events)
{
    return {"counts.bin",
            "counts",
            {'C', 'P', 'C', 'O', 'U', 'N', 'T', '1'},
            2,
            static_cast<std::uint32_t>(model::CountRecords::words_for(events) * sizeof(std::int64_t))};
}

inline std::filesystem::path database_path(const std::filesystem::path& trace)
{
    return trace / directory_name / database_name;
}

inline std::filesystem::path segments_path(const std::filesystem::path& trace)
{
    return trace / directory_name / segments_format.file_name;
}

inline std::filesystem::path attribution_path(const std::filesystem::path& trace)
{
    return trace / directory_name / attribution_format.file_name;
}

inline std::filesystem::path counts_path(const std::filesystem::path& trace)
{
    return trace / directory_name / counts_format(0).file_name;
}

inline std::filesystem::path totals_path(const std::filesystem::path& trace)
{
    return trace / directory_name / totals_format.file_name;
}

inline std::filesystem::path computed_path(const std::filesystem::path& trace)
{
    return trace / directory_name / computed_format.file_name;
}

/// One of these files, of records of one kind, mapped read-only for as long as this lives.
template <class Record, const RecordFormat& format>
class RecordsOf
{
public:
    /// Throws as RecordFile does.
    explicit RecordsOf(const std::filesystem::path& trace) : file_(trace, format) {}

    [[nodiscard]] const RecordHeader& header() const { return file_.header(); }
    [[nodiscard]] std::span<const Record> records() const
    {
        return {static_cast<const Record*>(file_.records()), header().records};
    }

protected:
    RecordFile file_;
};

/// The segments of TRACE.
class Segments : public RecordsOf<model::Segment, segments_format>
{
public:
    using RecordsOf::RecordsOf;

    /// Reads everything once: the segments form one chain over the whole makespan, all their ids exist in `profile`,
    /// and they have the checksum that `profile` has, if it has one. Throws Failure(BadTrace) if not.
    void check(const model::Profile& profile) const;
};

/// What of them belongs to places of its own.
class Attributions : public RecordsOf<model::Attribution, attribution_format>
{
public:
    using RecordsOf::RecordsOf;

    /// As Segments::check(): they are sorted, and lie in the run.
    void check(const model::Profile& profile) const;
};

/// What was counted on them, likewise mapped.
class Counts
{
public:
    /// `events`: that the trace counts (Profile::events).
    Counts(const std::filesystem::path& trace, std::size_t events)
        : file_(trace, counts_format(events)), events_(events)
    {
    }

    [[nodiscard]] const RecordHeader& header() const { return file_.header(); }
    [[nodiscard]] model::CountRecords records() const
    {
        const std::size_t words = header().records * model::CountRecords::words_for(events_);
        return {{static_cast<const std::int64_t*>(file_.records()), words}, events_};
    }

    /// As Segments::check(): they are sorted, and intervals do not overlap.
    void check(const model::Profile& profile) const;

private:
    RecordFile file_;
    std::size_t events_;
};

/// The times of all ranks by part of the run.
class TotalParts : public RecordsOf<model::TotalPart, totals_format>
{
public:
    using RecordsOf::RecordsOf;

    /// As Segments::check(): they are sorted, and each is there once.
    void check(const model::Profile& profile) const;
};

/// What each thread computes by part of the run.
class Computed : public RecordsOf<model::ComputedParts, computed_format>
{
public:
    using RecordsOf::RecordsOf;

    /// As Segments::check(): they are sorted, and each thread is there once.
    void check(const model::Profile& profile) const;
};

}  // namespace critpath::result

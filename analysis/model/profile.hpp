// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the aggregates of one replay: what is written to critpath.sqlite and all that cpreport needs. Only sums of
// integers, so that the result does not depend on how many processes added them up.
#pragma once

#include "analysis/model/ids.hpp"
#include "analysis/model/path.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace critpath::model
{

enum class RowKind : std::uint8_t {
    Sampled,  // a function found by samples; times are sums of sample periods
    Region,   // a function found by enter and leave records of the trace; times are exact
    Mpi,      // an MPI function; times are exact
    Pseudo,   // time that belongs to no function, in square brackets: "[transfer]", "[not sampled]"
};

/// One function that hotspots are reported for. Rows are sorted by (kind, module, name) and unique.
struct Row {
    RowKind kind;
    std::string name;
    std::string module;  // path of the binary; "MPI" for MPI functions; empty for Pseudo
    std::string file;    // source file, if the trace says
    std::uint32_t line = 0;
};

/// Time and samples of one row on one process (path) or on all processes (total).
struct RowTime {
    RowId row;
    ProcessId process;  // none() for totals
    std::int64_t ns = 0;
    std::uint64_t samples = 0;  // 0 for exact rows
};

/// Path time by kind of segment, MPI function and process.
struct KindTime {
    SegmentKind kind;
    RowId function;  // as Segment::function; none() for Compute and StartDelay
    ProcessId process;
    std::int64_t ns = 0;
    std::uint64_t segments = 0;
};

struct ProcessTotals {
    std::string name;  // "rank 3"
    std::string node;
    std::int64_t lifetime_ns = 0;  // first to last event of its locations' main thread
    std::int64_t mpi_ns = 0;       // in MPI calls
    std::int64_t path_ns = 0;      // on the critical path, all kinds
    std::int64_t sampled_ns = 0;   // sum of sample periods, all threads
    std::uint64_t calls = 0;
    std::uint64_t samples = 0;
};

/// Everything that one replay found out. Keys of `facts` are documented in formats/FORMAT.md.
struct Profile {
    std::map<std::string, std::int64_t> facts;      // e.g. makespan_ns, unmatched_sends, clock_violations
    std::map<std::string, std::string> properties;  // e.g. tool_version, rules, event, command
    std::vector<ProcessTotals> processes;           // by ProcessId
    std::vector<std::string> locations;             // by LocationId: "rank 3" or "rank 3 thread 1"
    std::vector<std::uint32_t> location_process;    // by LocationId: ProcessId
    std::vector<Row> rows;                          // by RowId
    std::vector<RowTime> path;                      // sorted by (row, process)
    std::vector<RowTime> totals;                    // sorted by row
    std::vector<KindTime> kinds;                    // sorted by (kind, function, process)
};

}  // namespace critpath::model

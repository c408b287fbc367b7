// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the aggregates of one replay: what is written to critpath.sqlite and all that cpreport needs. Only sums of
// integers, so that the result does not depend on how many processes added them up.
#pragma once

#include "analysis/model/ids.hpp"
#include "analysis/model/path.hpp"
#include "analysis/model/source.hpp"
#include "analysis/model/stretch.hpp"

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

/// A node of the call tree: a row as it was reached from the main program, or below one that was, time that belongs to
/// no function. Parents come before their children; no two nodes have the same row, parent and site, but where parts of
/// a function were given one name.
struct CallPath {
    RowId row;
    CallPathId parent;       // none() at a root
    std::uint64_t site = 0;  // where `parent` calls it, an address in its binary; 0: not known
};

/// Time and samples of one call path, without those below it, on one process (path) or on all processes (total).
struct CallPathTime {
    CallPathId call_path;
    ProcessId process;  // none() for totals
    std::int64_t ns = 0;
    std::uint64_t samples = 0;          // 0 where the time is exact
    std::int64_t other_threads_ns = 0;  // of totals: the part of other threads than the first of a process
    std::int64_t found_ns = 0;          // of the path: the part in which the thread was found blocked there
    std::int64_t in_calls_ns = 0;       // of totals: the part in calls of MPI, which these functions have, too
};

/// Time that samples found at one instruction of a function, as it was reached by one call path.
struct AddressTime {
    CallPathId call_path;
    std::uint64_t address = 0;  // virtual address of the binary (Row::module)
    std::int64_t ns = 0;
    std::uint64_t samples = 0;
};

/// What one call path, without those below it, counted of an event on the critical path, on one process.
struct EventCount {
    CallPathId call_path;
    ProcessId process;
    std::uint32_t event = 0;     // Profile::events
    std::int64_t count = 0;      // as far as it is known
    std::int64_t ns = 0;         // processor time on the path, of which
    std::int64_t known_ns = 0;   // the count is, and of that
    std::int64_t scaled_ns = 0;  // where it was counted for a part of the time, and scaled up
    // What all of the sample has counted that an event comes from, in the mean of the events, in 1e-3: the larger, the
    // fewer samples the count rests on.
    std::int64_t sample_count = 0;
};

/// A binary that functions lie in.
struct Module {
    std::string path;
    std::string build_id;            // as recorded: in hex, or "-..." (binary::ElfFile::identity()); empty: not known
    bool has_lines = false;          // its debug information was there when the run was replayed, but maybe
    bool lacks_split_units = false;  // for what is in .dwo files
};

/// Path time by kind of segment, MPI function and process.
struct KindTime {
    SegmentKind kind;
    RowId function;  // that of Segment::call; none() for Compute and StartDelay
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

/// A clock, and how far it can be trusted. Only of runs with several of them.
struct ClockTotals {
    std::string node;  // of its first process
    std::uint64_t processes = 0;
    std::int64_t path_ns = 0;         // on the critical path, of these processes
    std::int64_t decided_ns = 0;      // of that, where the choice of a predecessor was within the error of the clocks
    std::int64_t doubted_ns = 0;      // and where such a choice may have led, until all processes meet
    std::uint64_t last_arrivals = 0;  // all-to-all collectives over several clocks to which they came last
    std::int64_t correction_ns = 0;   // by which events have moved its times, the largest
    std::int64_t uncertainty_ns = 0;  // that is left, the largest
    bool is_known = true;             // nothing relates it to the others otherwise
};

/// Everything that one replay found out. Keys of `facts` are documented in formats/FORMAT.md.
struct Profile {
    std::map<std::string, std::int64_t> facts;      // e.g. makespan_ns, unmatched_sends, clock_violations
    std::map<std::string, std::string> properties;  // e.g. tool_version, rules, event, command
    std::vector<ProcessTotals> processes;           // by ProcessId
    std::vector<ClockTotals> clocks;                // by clock; empty if there is only one
    std::vector<std::string> locations;             // by LocationId: "rank 3" or "rank 3 thread 1"
    std::vector<std::uint32_t> location_process;    // by LocationId: ProcessId
    std::vector<std::int64_t> computed_ns;          // by LocationId: between calls, on and off the path
    std::vector<Row> rows;                          // by RowId
    std::vector<CallPath> call_paths;               // by CallPathId
    std::vector<CallPathTime> path;                 // sorted by (call path, process)
    std::vector<CallPathTime> totals;               // sorted by call path
    std::vector<std::string> events;                // that samples count
    std::vector<EventCount> path_events;            // sorted by (call path, process, event)
    std::vector<AddressTime> addresses;             // on the path; sorted by (call path, address)
    std::vector<AddressTime> total_addresses;       // of all threads, on and off the path; likewise
    std::vector<Module> modules;                    // of rows; sorted by path
    std::vector<KindTime> kinds;                    // sorted by (kind, function, process)
    std::vector<Stretch> stretches;                 // with the most time on the path first
    std::vector<StretchShare> stretch_shares;       // sorted by (stretch, process)
    std::vector<StretchRank> stretch_ranks;         // likewise
    std::vector<StretchCode> stretch_code;          // sorted by (stretch, call path)
    std::vector<StretchAddress> stretch_addresses;  // sorted by (stretch, row, address)
    std::vector<std::string> source_files;          // absolute, as far as the compiler has said where it ran
    std::vector<SourceFunction> source_functions;
    std::vector<SourceFrame> source_frames;  // of sampled instructions and of calls; sorted by (module, address)

    [[nodiscard]] RowId row_of(CallPathId call_path) const { return call_paths[call_path.value].row; }
    [[nodiscard]] const Row& row(CallPathId call_path) const { return rows[row_of(call_path).value]; }
    /// Of a run with samples: whether these have divided that time, also if they were taken elsewhere.
    [[nodiscard]] bool is_sampled(const CallPathTime& time) const
    {
        return time.samples > 0 || row(time.call_path).kind == RowKind::Sampled;
    }
};

}  // namespace critpath::model

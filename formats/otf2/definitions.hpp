// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns the global definitions of a trace as plain data, and how they become OTF2 definitions (formats/FORMAT.md).
// The position in a table is the id that the events use.
#pragma once

#include "formats/functions/functions.hpp"
#include "formats/otf2/archive.hpp"

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace critpath::otf2
{

/// Undefined references in the tables below.
inline constexpr std::uint32_t none = OTF2_UNDEFINED_UINT32;

struct ProcessDefinition {  // position: rank in MPI_COMM_WORLD
    std::string host;
    std::map<std::string, std::string> properties;  // names without "critpath."
};

struct LocationDefinition {
    std::uint32_t rank = 0;
    std::uint32_t thread = 0;
    std::uint64_t events = 0;
    std::map<std::string, std::string> texts;  // properties; names without "critpath."
    std::map<std::string, std::uint64_t> counts;
    std::map<std::string, double> numbers;
};

/// A function: of MPI if `function` is valid, else of the application.
struct RegionDefinition {
    functions::FunctionId function = functions::FunctionId::none;
    std::string name;
    std::string canonical_name;
    std::string module;  // path of the binary
    OTF2_Paradigm paradigm = OTF2_PARADIGM_SAMPLING;
    OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION;  // of what is not of MPI
    std::string file;                                  // of the source; usually unknown
    std::uint32_t line = 0;
};

/// World ranks first, first + stride, ...: `count` of them.
struct RankRun {
    std::int32_t first = 0;
    std::int32_t stride = 1;
    std::int32_t count = 0;
    auto operator<=>(const RankRun&) const = default;
};
using RankList = std::vector<RankRun>;

/// `ranks` as runs: the longest run with one stride at each position, greedily. Equal lists have equal runs.
RankList compress(const std::vector<std::int32_t>& ranks);
/// The way back.
std::vector<std::int32_t> expand(const RankList& runs);

/// One dimension of a Cartesian topology.
struct GridDimension {
    std::uint32_t size = 0;
    bool is_periodic = false;
    auto operator<=>(const GridDimension&) const = default;
};

struct CommunicatorDefinition {
    std::string name;
    RankList members;  // by rank; for an inter-communicator its first side
    RankList remote;   // inter-communicator: the other side
    bool is_inter = false;
    bool is_self = false;     // MPI_COMM_SELF or a relative: every member is alone
    bool has_events = false;  // created and perhaps freed during the recording
    std::uint32_t parent = none;
    std::vector<GridDimension> grid = {};  // empty: it has no Cartesian topology; else its ranks are in row-major order
};

struct ContextDefinition {
    std::uint32_t region = none;
    std::uint32_t parent = none;  // stands earlier in the table
    std::uint64_t site = 0;       // where `parent` makes the call, an address in its binary; 0: not known
};

struct GeneratorDefinition {
    std::string event;
    std::uint64_t period = 0;  // ns if the event is_time_event(), else counts
};

/// The sampled event is time itself, in ns: of perf_event, or of the timers that take its place.
inline bool is_time_event(std::string_view event)
{
    return event == "cpu-clock" || event == "cpu-timer";
}

struct WindowDefinition {
    std::string name;
    std::uint32_t comm = none;
};

/// Counters that are recorded together, in the order of their values.
struct MetricDefinition {
    std::vector<std::string> names;
    bool is_sampled = false;  // recorded with samples; else with calls
};

struct ModuleDefinition {
    std::string build_id;  // or what stands for it (FORMAT.md); may be empty
    std::string path;
};

struct TraceDefinitions {
    std::vector<std::string> strings;  // that events refer to: position = reference
    std::vector<ProcessDefinition> processes;
    std::vector<LocationDefinition> locations;
    std::vector<RegionDefinition> regions;
    std::vector<CommunicatorDefinition> communicators;
    std::vector<ContextDefinition> contexts;
    std::vector<GeneratorDefinition> generators;
    std::vector<ModuleDefinition> modules;
    std::vector<WindowDefinition> windows;
    std::vector<RankList> groups;  // that events refer to, by group_reference(position)
    std::vector<MetricDefinition> metrics;
    std::uint64_t begin = 0;     // smallest time of all events, ns
    std::uint64_t end = 0;       // greatest
    std::uint64_t realtime = 0;  // ns since the epoch at `begin`
    std::string incomplete;      // which ranks' recordings did not end as they should, and how; empty: all did
    std::string precise_ip;      // of samples of a hardware event, "0" to "3"; empty: there are none
    std::string call_graph;      // where the callers of samples come from; empty: nothing was sampled
    std::string left_out;        // groups of MPI functions that were not to be recorded, with commas; empty: none
    std::string inconsistent;    // about which communicators the ranks disagree; empty: about none
};

inline constexpr OTF2_LocationRef location_reference(std::uint32_t rank, std::uint32_t thread)
{
    return rank | (static_cast<OTF2_LocationRef>(thread) << 32);
}

/// The first groups are MPI's own: all ranks, and MPI_COMM_SELF.
inline constexpr OTF2_GroupRef group_reference(std::uint32_t position)
{
    return position + 2;
}

/// Writes the global definitions and our archive properties. Called by the first process.
void write_definitions(Archive& archive, const TraceDefinitions& definitions);

}  // namespace critpath::otf2

// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a trace in memory as the replay needs it: definitions, which every process holds, and the events of the
// traced processes, of which each process holds its own. Plain data; made by replayer/load or by the test builder.
#pragma once

#include "analysis/model/anomalies.hpp"
#include "analysis/model/calls.hpp"
#include "analysis/model/collectives.hpp"
#include "analysis/model/ids.hpp"
#include "analysis/model/messages.hpp"
#include "analysis/model/neighbours.hpp"
#include "analysis/model/one_sided.hpp"
#include "formats/functions/functions.hpp"
#include "formats/otf2/waits_for.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace critpath::model
{

using functions::FunctionId;

// ---------------------------------------------------------------------------------------------- definitions

enum class RegionRole : std::uint8_t {
    Mpi,
    Sampled,
    User,
    Preempted,  // not a region of the program: the thread was able to run and had no processor
    Blocked     // as before, but it waited for something
};

struct Region {
    RegionRole role = RegionRole::User;
    FunctionId function = FunctionId::none;  // for MPI functions that are in the function table
    std::string name;
    std::string module;  // path of the binary (sampled functions)
    std::string file;    // source file, if known
    std::uint32_t line = 0;
};

struct Process {
    std::string name;                   // "rank 3"
    std::string node;                   // host name
    NodeId clock_domain;                // processes with equal domain share the clock
    std::vector<LocationId> locations;  // threads, thread 0 first
    bool is_missing = false;            // nothing of it was recorded, or can be read
};

struct Location {
    std::string name;  // "rank 3" or "rank 3 thread 1"
    ProcessId process;
    std::uint64_t reference = 0;  // OTF2 location reference
    std::uint64_t events = 0;     // as the definitions promise
};

struct Communicator {
    std::string name;
    bool is_inter = false;
    bool is_self = false;            // MPI_COMM_SELF or a duplicate of it: every member is alone
    std::vector<ProcessId> members;  // by rank; for an inter-communicator the group of its first side
    std::vector<ProcessId> remote;   // inter-communicator: the other side
    Neighbours neighbours;           // if it has a Cartesian topology
};

/// A region as it is reached by one call path. Every region has a context without a parent, too: for traces, and
/// records, that do not know call paths.
struct CallingContext {
    RegionId region;
    ContextId parent;        // none() at the root
    std::uint64_t site = 0;  // where `parent` makes the call, an address in its binary; 0: not known
};

/// All ids that appear in events are indices into these.
struct Definitions {
    std::vector<Process> processes;
    std::vector<Location> locations;
    std::vector<Region> regions;
    std::vector<Communicator> communicators;
    std::vector<CallingContext> contexts;
    std::vector<Window> windows;
    std::vector<ProcessGroup> groups;  // empty where there are no windows
    Ns begin{};                        // smallest time that the definitions promise (0 if they do not say)
    bool has_samples = false;          // an interrupt generator is defined
    std::string event;                 // what was sampled, e.g. "cpu-clock"
    std::uint64_t period = 0;          // nominal, in `period_unit`
    std::string period_unit;           // "ns" or "count"
    std::vector<std::string> counted;  // events that samples count, e.g. "instructions"
    std::string precise_ip;            // of samples of a hardware event: perf_event_attr::precise_ip; empty: not said
    std::string left_out;  // groups of MPI functions that were not to be recorded ("p2p,io"); empty: none, or not said
    std::string call_graph;  // where the callers of samples come from ("fp", "dwarf", "none"); empty: not said
    std::string command;     // of the application
    std::map<std::pair<std::string, std::string>, std::int64_t> refused_events;  // name and reason -> processes
    std::string incomplete;    // which ranks' recordings ended too early, and how; empty: none
    std::string inconsistent;  // about which communicators the ranks disagree; empty: none

    std::map<std::string, std::string> build_ids;  // by Region::module, as in binary::Module

    /// By clock domain: the largest error of the times of its processes against those of the others. Empty: not known.
    std::vector<Ns> clock_uncertainty;

    [[nodiscard]] const Region& region(ContextId context) const
    {
        return regions[contexts[context.value].region.value];
    }

    /// How far off a time of the process may be against those of others.
    [[nodiscard]] Ns uncertainty(ProcessId process) const
    {
        return clock_uncertainty.empty() ? Ns{0} : clock_uncertainty[processes[process.value].clock_domain.value];
    }
    /// How far off the distance between a time of `a` and one of `b` may be. Within one clock domain it is exact.
    [[nodiscard]] Ns uncertainty(ProcessId a, ProcessId b) const
    {
        const NodeId mine = processes[a.value].clock_domain;
        const NodeId theirs = processes[b.value].clock_domain;
        const bool exact = mine == theirs || clock_uncertainty.empty();
        return exact ? Ns{0} : clock_uncertainty[mine.value] + clock_uncertainty[theirs.value];
    }
    /// The largest one.
    [[nodiscard]] Ns largest_uncertainty() const
    {
        Ns largest{0};
        Ns second{0};
        for (const Ns ns : clock_uncertainty) {
            second = std::max(second, std::min(largest, ns));
            largest = std::max(largest, ns);
        }
        return clock_uncertainty.size() < 2 ? Ns{0} : largest + second;
    }
    [[nodiscard]] Ns uncertainty(LocationId a, LocationId b) const
    {
        return uncertainty(locations[a.value].process, locations[b.value].process);
    }
};

// --------------------------------------------------------------------------------------------------- events

/// A successful probe that did not match the message itself (MPI_Probe, MPI_Iprobe). Mprobes are in Receive::matched.
struct Probe {
    CallRef call;
    CommId comm;
    std::int32_t source;
    std::int32_t tag;
    std::uint32_t receive;  // index into ProcessTrace::receives of the receive that got the probed message, or -1
};

/// Operations that were posted but not recorded, because the user had switched the recording off. They count in the
/// order of messages and collectives behind those that are posted until `time`, and before all later ones.
struct Skipped {
    enum class What : std::uint8_t { Send, Receive, Collective };
    Ns time;
    What what;
    CommId comm;
    std::int32_t peer;  // of messages: destination, or actual source
    std::int32_t tag;
    std::int32_t count;  // negative: so many of those before do not count, after all
};

/// A thread went on at one point, for which it had waited until another thread of its process came to another.
struct ThreadWait {
    CallRef waiter;
    CallRef cause;
};

struct Interval {
    Ns begin;
    Ns end;
};

/// What a thread did when the collector found it blocked.
using otf2::WaitsFor;

/// The thread had no processor.
struct OffProcessor {
    Ns begin;
    Ns end;
    bool preempted;         // it was able to run (be it that it was woken); else it was blocked
    bool is_found = false;  // and was found there: `found_in` is no guess
    WaitsFor waits_for = WaitsFor::Unknown;
    bool migrated = false;                   // it came back on another one than it left
    ContextId found_in = ContextId::none();  // outside of MPI, where it was blocked, if that is known
    bool is_woken = false;                   // preempted, but it was blocked right before, in the same place
};

struct Sample {
    Ns time;
    ContextId context;
    std::uint32_t page_faults;  // of the thread since its sample before
    std::int64_t weight;        // ns of processor time that the sample stands for
    std::uint64_t offset;       // of the sampled instruction in its binary; 0 if unknown
};

/// What a thread counted from each sample to the next.
class SampleCounts
{
public:
    static constexpr std::int64_t unknown = -1;

    /// Adds a sample: `counts` by Definitions::counted. `scaled`: they were counted for a part of the time only.
    void push_back(std::span<const std::int64_t> counts, bool scaled)
    {
        counts_.insert(counts_.end(), counts.begin(), counts.end());
        scaled_.push_back(scaled);
    }

    /// Of an event since the sample before; unknown also where nothing was added.
    [[nodiscard]] std::int64_t count(std::size_t sample, std::size_t event) const
    {
        if (sample >= scaled_.size())
            return unknown;
        return counts_[sample * (counts_.size() / scaled_.size()) + event];
    }
    [[nodiscard]] bool is_scaled(std::size_t sample) const { return sample < scaled_.size() && scaled_[sample]; }
    [[nodiscard]] bool empty() const { return counts_.empty(); }
    [[nodiscard]] std::size_t size() const { return scaled_.size(); }  // samples
    /// Keeps the first ones, where there are more.
    void truncate(std::size_t samples)
    {
        if (samples >= scaled_.size())
            return;
        counts_.resize(counts_.size() / scaled_.size() * samples);
        scaled_.resize(samples);
    }

private:
    std::vector<std::int64_t> counts_;
    std::vector<bool> scaled_;
};

/// What a thread has done between two calls, as the processor counted it.
struct Counted {
    static constexpr std::int64_t unknown = -1;
    std::int64_t instructions = unknown;
    std::int64_t cycles = unknown;
};

/// From `time` on, `context` is the innermost user region of the location (none(): outside of all).
struct RegionChange {
    Ns time;
    ContextId context;
};

/// How the recording of a location ended.
enum class RecordingEnd : std::uint8_t {
    Complete,
    Died,  // with the process
    Full,  // before the process: the records that follow are lost
};

/// A call that stands for many polls, of which most is time between them.
struct LoosePolls {
    CallId call;
    Ns between;
};

/// One location. All vectors are in order of time.
struct LocationTrace {
    LocationId location;
    Ns begin{};  // first event
    Ns end{};    // last event of the application: the enter of MPI_Finalize, or the last event if there is none
    bool has_finalize = false;
    bool ends_in_call = false;  // the last call has no leave
    RecordingEnd recording_end = RecordingEnd::Complete;
    Calls calls;
    std::vector<Interval> tool;
    std::vector<Interval> unrecorded;  // the user had switched the recording off
    std::vector<OffProcessor> off;     // empty also where nobody recorded it
    std::vector<Sample> samples;
    SampleCounts sample_counts;    // of these
    std::vector<Counted> counted;  // by call, points left aside: since the leave of the call before. Where it is too
                                   // short, and first calls have none: not known
    std::vector<RegionChange> user_regions;
    std::vector<LoosePolls> loose_polls;  // ascending
};

/// When the thread has a processor again: who was woken may still have waited for one.
inline Ns back_on_processor(const LocationTrace& location, const OffProcessor& off)
{
    const auto next = std::ranges::lower_bound(location.off, off.end, {}, &OffProcessor::begin);
    const bool was_woken = next != location.off.end() && next->is_woken && next->begin == off.end && !off.preempted;
    return was_woken ? next->end : off.end;
}

/// In-neighbours of a process in communicators that have a graph topology: ranks, ascending.
using Graphs = std::map<CommId, std::vector<std::uint32_t>>;

/// One traced process. Sends, receives and probes are in posting order over all its threads (by enter, then by
/// thread); collectives in order of enter or post, which is their order on each communicator.
struct ProcessTrace {
    ProcessId process;
    std::vector<LocationTrace> locations;  // as Process::locations
    CallNumbers numbers;                   // of the calls of all locations
    Sends sends;
    Receives receives;  // those that got a message
    std::vector<Probe> probes;
    CollectiveCalls collectives;
    Graphs graphs;
    std::vector<Skipped> skipped;            // in order of time
    std::vector<ThreadWait> thread_waits;    // in no order
    std::vector<WindowEvent> window_events;  // in order of enter, then of threads, then of records
    Anomalies anomalies;
    std::optional<Ns> clock_uncertainty;  // the largest error of its times; none: nobody compared its clock with others
};

}  // namespace critpath::model

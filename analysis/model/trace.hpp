// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns a trace in memory as the replay needs it: definitions, which every process holds, and the events of the
// traced processes, of which each process holds its own. Plain data; made by replayer/load or by the test builder.
#pragma once

#include "analysis/model/ids.hpp"
#include "formats/functions/functions.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace critpath::model
{

using functions::FunctionId;
using functions::SendMode;

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
};

struct CallingContext {
    RegionId region;
    ContextId parent;  // none() at the root
};

/// All ids that appear in events are indices into these.
struct Definitions {
    std::vector<Process> processes;
    std::vector<Location> locations;
    std::vector<Region> regions;
    std::vector<Communicator> communicators;
    std::vector<CallingContext> contexts;
    Ns begin{};                // smallest time that the definitions promise (0 if they do not say)
    bool has_samples = false;  // an interrupt generator is defined
    std::string event;         // what was sampled, e.g. "cpu-clock"
    std::uint64_t period = 0;  // nominal, in `period_unit`
    std::string period_unit;   // "ns" or "count"
    std::string command;       // of the application
    std::string incomplete;    // which ranks' recordings ended too early, and how; empty: none
    std::string inconsistent;  // about which communicators the ranks disagree; empty: none

    /// By clock domain: the largest error of the times of its processes against those of the others. Empty: not known.
    std::vector<Ns> clock_uncertainty;

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

/// A call on a location of the same process; the enter of `call` or its leave, as the context says.
struct CallRef {
    LocationId location = LocationId::none();
    CallId call = CallId::none();
    [[nodiscard]] bool valid() const { return call.valid(); }
    auto operator<=>(const CallRef&) const = default;
};

/// The MPI calls of one location in order of enter; calls do not nest. Structure of arrays: entry i is CallId{i}.
struct Calls {
    std::vector<Ns> enter;
    std::vector<Ns> leave;
    std::vector<RegionId> region;

    [[nodiscard]] std::size_t size() const { return enter.size(); }
};

/// A send operation, at the position of its post (the call in which it began).
struct Send {
    CallRef post;
    CallRef completion;  // == post for blocking sends; invalid if it was never completed
    CommId comm;
    std::int32_t dest;  // rank in comm (inter-communicator: in the remote group)
    std::int32_t tag;
    SendMode mode;
    std::uint64_t bytes;
};

/// A receive operation that got a message, at the position of its post; source and tag are the actual ones.
struct Receive {
    CallRef post;
    CallRef completion;  // == post for blocking receives
    CallRef matched;     // the Mprobe or Improbe at which it was matched; invalid: at the post
    CommId comm;
    std::int32_t source;
    std::int32_t tag;
    std::uint64_t bytes;
};

/// A successful probe that did not match the message itself (MPI_Probe, MPI_Iprobe). Mprobes are in Receive::matched.
struct Probe {
    CallRef call;
    CommId comm;
    std::int32_t source;
    std::int32_t tag;
    std::uint32_t receive;  // index into ProcessTrace::receives of the receive that got the probed message, or -1
};

/// One member's part in a collective operation.
struct CollectiveCall {
    CallRef call;  // of a non-blocking one: that completed it; invalid if none did
    CommId comm;
    std::int32_t root;  // rank in comm (inter-communicator: in the remote group); -1: none; -2: this rank, and -3:
                        // another of its side, in an inter-communicator
    std::uint64_t sent;
    std::uint64_t received;
    CallRef post{};  // of a non-blocking one: that began it; else invalid

    [[nodiscard]] bool is_blocking() const { return !post.valid(); }
    /// The call whose enter counts, and whose function says what it was.
    [[nodiscard]] CallRef begin() const { return is_blocking() ? call : post; }
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

struct Interval {
    Ns begin;
    Ns end;
};

/// The thread had no processor.
struct OffProcessor {
    Ns begin;
    Ns end;
    bool preempted;  // it was able to run; else it was blocked
};

struct Sample {
    Ns time;
    ContextId context;
    std::int64_t weight;   // ns of processor time that the sample stands for
    std::uint64_t offset;  // of the sampled instruction in its binary; 0 if unknown
};

/// From `time` on, `region` is the innermost user region of the location (none(): outside of all).
struct RegionChange {
    Ns time;
    RegionId region;
};

/// How the recording of a location ended.
enum class RecordingEnd : std::uint8_t {
    Complete,
    Died,  // with the process
    Full,  // before the process: the records that follow are lost
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
    std::vector<RegionChange> user_regions;
};

/// What was seen but is not in the arrays.
struct Anomalies {
    std::uint64_t cancelled_receives = 0;
    std::uint64_t unfinished_requests = 0;  // posts without a completion; such receives are left out
    std::uint64_t open_calls = 0;           // enter without leave; closed at the location's last event
    std::uint64_t ignored_records = 0;      // but for the next two
    std::uint64_t ignored_rma_records = 0;
    std::uint64_t ignored_metric_records = 0;
    std::uint64_t clock_violations = 0;    // events that go back in time within a location
    std::uint64_t lost_records = 0;        // that did not fit, or were damaged
    std::uint64_t unresolved_records = 0;  // that named what nobody had defined
    std::uint64_t lost_samples = 0;
    // In which threads were not sampled, because they switched too often:
    std::uint64_t wait_respite_ns = 0;  // while they waited in MPI,
    std::uint64_t respite_ns = 0;       // and elsewhere
};

/// One traced process. Sends, receives and probes are in posting order over all its threads (by enter, then by
/// thread); collectives in order of enter or post, which is their order on each communicator.
struct ProcessTrace {
    ProcessId process;
    std::vector<LocationTrace> locations;  // as Process::locations
    std::vector<Send> sends;
    std::vector<Receive> receives;
    std::vector<Probe> probes;
    std::vector<CollectiveCall> collectives;
    std::vector<Skipped> skipped;  // in order of time
    Anomalies anomalies;
    std::optional<Ns> clock_uncertainty;  // the largest error of its times; none: nobody compared its clock with others
};

}  // namespace critpath::model

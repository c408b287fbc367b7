// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Owns what one process recorded, after the first pass over its spool: samples with their contexts, and all that
// its events will refer to.
#pragma once

#include "collector/archive/call_paths.hpp"
#include "collector/archive/contexts.hpp"
#include "collector/archive/off_processor.hpp"
#include "collector/archive/posts.hpp"
#include "collector/archive/recorded_call.hpp"
#include "collector/archive/sample_counts.hpp"
#include "collector/archive/spool_reader.hpp"
#include "collector/archive/tables.hpp"
#include "collector/archive/unwinder.hpp"
#include "formats/otf2/clock_correction.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace critpath::archive
{

// Ids are dense; anything beyond is damage.
inline constexpr std::int32_t largest_id = 1 << 24;

struct SamplePoint {
    std::uint64_t time = 0;
    std::uint64_t period = 0;
    std::uint64_t offset = 0;
    std::uint32_t context = 0;                      // local
    std::uint32_t totals = no_totals;               // ThreadData::event_totals from here on
    static constexpr std::uint32_t no_totals = -1;  // they are not those of the group
    bool behind_respite = false;                    // since the sample before, the events were disabled for a while
};

struct Stretch {
    std::uint64_t begin = 0, end = 0;  // ns
};

struct ThreadData {
    CallPaths call_paths;
    std::optional<OpenCall> open_call;          // in which the process died
    std::vector<Stretch> switched_off;          // by the user; by time
    std::vector<spool::SkippedRecord> skipped;  // by time
    Hash128 metric;                             // zero: no counters
    std::size_t counters = 0;                   // values of a CountersRecord
    std::vector<SamplePoint> samples;           // by time
    EventGroup events;                          // of the samples
    Hash128 event_metric;                       // of EventGroup::places; zero: there are none
    std::vector<std::uint64_t> event_totals;    // of samples: time enabled and running, and the values of the group
    std::vector<OffInterval> off;               // by time
    std::uint64_t lost_records = 0;
    std::uint64_t damaged_records = 0;  // of them
    std::uint64_t lost_samples = 0;
    std::uint64_t cut_samples = 0;       // as in critpath_archive_summary
    bool timer_stopped = false;          // that took its samples
    std::uint64_t sampled_ns = 0;        // its life, of which without samples because it switched too often:
    std::uint64_t wait_respite_ns = 0;   // while it waited in MPI, or asked at once again,
    std::uint64_t respite_ns = 0;        // and elsewhere
    std::uint64_t unseen_unloads = 0;    // of the process, on its first thread: as AddressMap, and as
    std::uint64_t unreadable_files = 0;  // ContextTree
    Hash128 generator;                   // zero: not sampled
    std::uint64_t period = 0;            // of the generator

    [[nodiscard]] std::optional<EventTotals> totals_of(const SamplePoint& sample) const
    {
        if (sample.totals == SamplePoint::no_totals)
            return std::nullopt;
        const std::span<const std::uint64_t> all = event_totals;
        return EventTotals{all[sample.totals], all[sample.totals + 1], all.subspan(sample.totals + 2, events.values)};
    }
};

/// How a window of this process is called in the trace.
struct WindowId {
    OTF2_RmaWinRef window = otf2::none;
    bool is_allocated = false;   // its memory is its own
    std::uint32_t own_rank = 0;  // in its communicator
};

/// Names the group of these world ranks.
Hash128 group_key(std::span<const std::int32_t> world_ranks);

/// Ids of the trace for what this process knows by other names.
struct EventIds {
    std::vector<OTF2_CommRef> comms;                                // by CommunicatorRecord::comm; none: not defined
    std::vector<WindowId> windows;                                  // by ObjectRecord::id
    std::vector<OTF2_StringRef> files;                              // by ObjectRecord::id: their names
    std::unordered_map<Hash128, OTF2_GroupRef, HashOfHash> groups;  // by group_key
    std::vector<OTF2_MetricRef> metrics;                            // by position of the thread: at calls,
    std::vector<OTF2_MetricRef> event_metrics;                      // and at samples
    OTF2_StringRef user_reason = OTF2_UNDEFINED_STRING;             // defined where a recording was switched off
    std::vector<OTF2_CallingContextRef> contexts;                   // by local context
    std::vector<OTF2_InterruptGeneratorRef> generators;             // by position of the thread
    OTF2_CallingContextRef preempted = otf2::none, blocked = otf2::none;
    OTF2_StringRef program = OTF2_UNDEFINED_STRING;
    std::vector<OTF2_StringRef> arguments;
};

/// Which group an epoch of a window is for: known at its begin, on any thread, and asked for at its end.
class Epochs
{
public:
    enum class Side : std::uint8_t { Access, Exposure };

    void begin(std::int32_t window, Side side, std::uint64_t leave, const Hash128& group);
    void end(std::int32_t window, Side side, std::uint64_t leave);
    /// After this, ends and begins may not have been recorded until `end`.
    void gap(std::uint64_t begin) { gaps_.push_back(begin); }
    /// When all are known.
    void sort();

    /// The group of the epoch that was open at `time`; nothing if its begin is not known.
    [[nodiscard]] std::optional<Hash128> open_at(std::int32_t window, Side side, std::uint64_t time) const;

private:
    struct Change {
        std::uint64_t time;
        std::optional<Hash128> group;  // nothing: an end
    };
    std::map<std::pair<std::int32_t, Side>, std::vector<Change>> changes_;
    std::vector<std::uint64_t> gaps_;
};

/// In-neighbours of this process in communicators that have a graph topology, by their local ids.
using Graphs = std::map<std::int32_t, std::set<std::uint32_t>>;

class ProcessData
{
public:
    /// Reads everything once. `spool` must outlive this. Throws Failure.
    explicit ProcessData(const ProcessSpool& spool);

    [[nodiscard]] const Tables& tables() const { return tables_; }
    [[nodiscard]] EventIds resolve(const Numbers& numbers) const;

    [[nodiscard]] const ProcessSpool& spool() const { return spool_; }
    [[nodiscard]] const std::vector<ThreadData>& threads() const { return threads_; }
    /// Enter of MPI_Finalize, or the largest time there is: the recording ends there.
    [[nodiscard]] std::uint64_t end() const { return end_; }
    [[nodiscard]] const std::vector<std::string>& command() const { return command_; }
    [[nodiscard]] const PostsOfProcess& posts() const { return posts_; }
    [[nodiscard]] const Epochs& epochs() const { return epochs_; }
    [[nodiscard]] const Graphs& graphs() const { return graphs_; }
    /// As of ContextTree.
    [[nodiscard]] const std::vector<std::string>& unreadable_files() const { return contexts_.unreadable(); }
    /// Whether a recorded call says when this communicator was made.
    [[nodiscard]] bool is_creation_recorded(std::int32_t comm) const { return created_.contains(comm); }
    /// How the clock of this process relates to that of rank 0; empty if nobody compared them.
    [[nodiscard]] const std::vector<otf2::ClockPoint>& clocks() const { return clocks_; }

private:
    void scan_calls(const ThreadSpool& thread, ThreadData& data);
    void place_skipped();
    void scan_call(std::uint32_t thread, const RecordedCall& call, CallPaths& paths);
    void scan_call_path(RecordCursor& cursor);
    void define_paths(CallPaths& paths, std::uint64_t time);
    void take_samples(const ThreadSpool& spool, ThreadData& thread);
    void add_communicator(const spool::CommunicatorRecord& record, otf2::RankList members);
    void add_grid(const spool::GridRecord& record);
    void add_graph(const spool::GraphRecord& record);
    void add_object(const spool::ObjectRecord& record);
    void add_group(std::span<const std::int32_t> world_ranks);
    void add_windows();
    [[nodiscard]] bool is_alone(const Hash128& comm) const;
    void add_names();
    void resolve_objects(const Numbers& numbers, EventIds& ids) const;
    void add_counters(const spool::SpoolHeader& header, ThreadData& thread);
    void add_events(const spool::SampleFormat& format, ThreadData& thread);
    void add_functions();
    void add_off_regions();
    void add_contexts();
    void add_command();

    const ProcessSpool& spool_;
    ContextTree contexts_;
    Unwinder unwinder_;
    std::map<std::uint32_t, std::vector<std::uint64_t>> new_paths_;  // by id, of the call that comes next
    std::vector<ThreadData> threads_;
    std::uint64_t end_ = std::numeric_limits<std::uint64_t>::max();
    std::vector<bool> used_;                               // by FunctionId
    std::unordered_map<std::int32_t, Hash128> comm_keys_;  // by local id
    std::map<Hash128, Hash128> gid_keys_;                  // key of each gid
    std::map<Hash128, std::uint64_t> alone_;               // by parent: communicators of this process alone
    struct Window {
        Hash128 key;
        std::int32_t comm;
        bool is_allocated;
    };
    std::map<std::int32_t, Window> windows_;                      // by local id
    std::map<std::int32_t, std::string> files_;                   // name by local id
    std::unordered_map<std::int32_t, std::uint32_t> comm_ranks_;  // own rank by local id
    Graphs graphs_;
    std::set<std::int32_t> created_;                                  // by recorded calls: local ids
    std::map<Hash128, std::uint64_t> alone_windows_;                  // by communicator of this process alone
    std::unordered_map<Hash128, otf2::RankList, HashOfHash> groups_;  // by group_key
    PostsOfProcess posts_;
    Epochs epochs_;
    std::vector<std::string> command_;
    std::vector<otf2::ClockPoint> clocks_;
    Tables tables_;
};

}  // namespace critpath::archive

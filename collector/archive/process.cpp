// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/process.hpp"

#include "collector/archive/first_samples.hpp"
#include "collector/archive/run_delays.hpp"
#include "collector/archive/sample_reader.hpp"
#include "formats/otf2/definitions.hpp"
#include "formats/otf2/function_map.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include <sys/syscall.h>
#include <unistd.h>

namespace critpath::archive
{

namespace
{

using functions::FunctionId;
using Kind = CommunicatorEntry::Kind;

constexpr std::int32_t world_id = 0;
constexpr std::int32_t self_id = 1;

Hash128 world_key()
{
    return text_key("MPI_COMM_WORLD");
}

Hash128 self_key()
{
    return text_key("MPI_COMM_SELF");
}

// "a\0b\0\0" as words.
std::vector<std::string> split_command(const char (&text)[1024])
{
    std::vector<std::string> words;
    for (const char* at = text; *at != '\0';) {
        words.emplace_back(at);
        at += words.back().size() + 1;
        if (at >= std::end(text)) {
            break;
        }
    }
    return words;
}

Hash128 off_key(const char* region)
{
    return Hasher().add("off").add(region).result();
}

bool is_of_this_process(const ProcessSpool& spool)
{
    return spool.is_own && spool.threads.front().header().pid == ::getpid();
}

RuntimeCode runtime_code(const ProcessSpool& spool)
{
    return is_of_this_process(spool) ? RuntimeCode::of_this_process(spool.threads.front().header().realtime)
                                     : RuntimeCode();
}

// Counters interrupt the kernel wherever it is. The interrupts of a timer come where the kernel lets them in: it would
// seem to spend its time in the functions that do, and rather counts for who has called it.
bool interrupts_kernel(const spool::SampleFormat& format)
{
    return std::string_view(format.event) == "cycles";
}

// What locks, conditions, barriers and the ends of threads of the C library wait with, and most of others.
WaitsFor waits_for(std::int64_t system_call, bool is_timed)
{
    if (system_call == SYS_restart_syscall) {
        return WaitsFor::Unknown;  // whatever it was in before a debugger, or SIGSTOP, came
    }
#ifdef SYS_futex_waitv
    const bool is_futex = system_call == SYS_futex || system_call == SYS_futex_waitv;
#else
    const bool is_futex = system_call == SYS_futex;
#endif
    if (is_futex) {
        return is_timed ? WaitsFor::ThreadOrTime : WaitsFor::Thread;
    }
    return is_timed ? WaitsFor::Time : WaitsFor::Other;
}

// Keeps what happened until `end`.
class SampleTaker : public SampleHandler
{
public:
    SampleTaker(ContextTree& contexts, Unwinder& unwinder, const spool::SampleFormat& format, ThreadData& thread,
                std::uint64_t end)
        : contexts_(contexts), unwinder_(unwinder), registers_(format.registers),
          has_callers_(format.call_graph != spool::CallGraph::None), sees_kernel_(interrupts_kernel(format)),
          thread_(thread), end_(end), has_first_(format.first_period != 0), first_(format.own_period)
    {
    }

    void on(const RawSample& sample) override
    {
        off_.on(sample);
        run_delays_.on_time(sample.time);
        if (sample.time <= end_) {
            CallChain chain = unwinder_.chain(sample, registers_);
            chain.is_whole |= !has_callers_;  // as it was asked for
            const Leaf leaf = contexts_.add(chain, sees_kernel_ ? sample.kernel : 0, sample.time);
            thread_.cut_samples += leaf.is_cut ? 1 : 0;
            if (has_first_) {
                first_.add(sample.values.empty() ? 0 : sample.values.front());
            }
            thread_.samples.push_back({sample.time, sample.period, leaf.offset, leaf.context, keep_totals(sample),
                                       std::exchange(rested_, false)});
        }
    }
    void on(const RawSwitch& change) override
    {
        off_.on(change);
        run_delays_.on_time(change.time);
    }
    void on(const RawRespite& change) override
    {
        rested_ = true;
        if (change.change == RawRespite::Change::RestedInWaits) {
            thread_.wait_respite_ns += change.time;
            return;
        }
        off_.on(change);
        end_respite(change.time);
        if (change.change != RawRespite::Change::Ends) {
            respite_ = change;
        }
    }
    void on(const RawBlocked& blocked) override
    {
        if (blocked.since <= end_) {
            CallChain chain = unwinder_.chain(blocked, blocked.since);
            chain.is_whole |= !has_callers_;
            found_.push_back({blocked.since, contexts_.add(chain, 0, blocked.since).context,
                              waits_for(blocked.system_call, blocked.is_timed)});
        }
    }
    void on(const RawRunDelay& delay) override { run_delays_.on(delay); }
    void on_gap() override
    {
        off_.on_gap();
        run_delays_.on_gap();
    }

    // When all are there, in the order in which they came.
    void weigh()
    {
        const std::vector<std::uint64_t> periods = first_.periods();
        for (std::size_t i = 0; i < periods.size(); ++i) {
            thread_.samples[i].period = periods[i];
        }
    }

    std::vector<OffInterval> off(std::uint64_t thread_end)
    {
        end_respite(thread_end);
        std::vector<OffInterval> intervals = run_delays_.divide(off_.finish(thread_end));
        std::erase_if(intervals, [this](const OffInterval& off) { return off.begin >= end_; });
        for (OffInterval& off : intervals) {
            off.end = std::min(off.end, end_);
        }
        place(intervals);
        return intervals;
    }

private:
    struct Found {
        std::uint64_t since;
        std::uint32_t context;
        WaitsFor waits_for;
    };

    // Both are in order of time.
    void place(std::vector<OffInterval>& intervals) const
    {
        auto off = intervals.begin();
        for (const Found& found : found_) {
            off = std::find_if(off, intervals.end(), [&](const OffInterval& o) { return o.begin >= found.since; });
            if (off != intervals.end() && off->begin == found.since && !off->preempted) {
                off->found_in = found.context;
                off->waits_for = found.waits_for;
            }
        }
    }

    std::uint32_t keep_totals(const RawSample& sample)
    {
        auto& kept = thread_.event_totals;
        const std::size_t place = kept.size();
        if (sample.values.size() != thread_.events.values || place >= SamplePoint::no_totals) {
            return SamplePoint::no_totals;
        }
        kept.insert(kept.end(), {sample.time_enabled, sample.time_running});
        kept.insert(kept.end(), sample.values.begin(), sample.values.end());
        return static_cast<std::uint32_t>(place);
    }

    void end_respite(std::uint64_t time)
    {
        if (respite_) {
            const bool in_wait = respite_->change == RawRespite::Change::BeginsInWait;
            (in_wait ? thread_.wait_respite_ns : thread_.respite_ns) += std::max(time, respite_->time) - respite_->time;
        }
        respite_.reset();
    }

    ContextTree& contexts_;
    Unwinder& unwinder_;
    std::uint64_t registers_;
    bool has_callers_;
    bool sees_kernel_;
    ThreadData& thread_;
    std::uint64_t end_;
    bool has_first_;
    FirstSamples first_;
    std::optional<RawRespite> respite_;  // that has begun
    bool rested_ = false;                // since the last sample
    OffProcessor off_;
    RunDelays run_delays_;
    std::vector<Found> found_;
};

}  // namespace

ProcessData::ProcessData(const ProcessSpool& spool)
    : spool_(spool), contexts_(AddressMap(spool.maps, spool.unloads), runtime_code(spool)),
      unwinder_(contexts_.map(), is_of_this_process(spool),
                [this](std::uint64_t a, std::uint64_t b, std::uint32_t epoch) {
                    return contexts_.are_in_one_function(a, b, epoch);
                }),
      used_(static_cast<std::size_t>(FunctionId::count))
{
    const spool::SpoolHeader& header = spool.threads.front().header();
    comm_keys_ = {{world_id, world_key()}, {self_id, self_key()}};
    tables_.communicators.push_back({world_key(), {}, Kind::World, {{{0, 1, header.size}}}});
    tables_.communicators.push_back({self_key(), {}, Kind::Self, {}});
    for (const ThreadSpool& thread : spool.threads) {
        scan_calls(thread, threads_.emplace_back());
    }
    place_skipped();
    posts_.finish();
    epochs_.sort();
    std::ranges::sort(clocks_, {}, &otf2::ClockPoint::time);
    for (std::size_t i = 0; i < threads_.size(); ++i) {
        take_samples(spool.threads[i], threads_[i]);
    }
    threads_.front().unseen_unloads = contexts_.map().unseen_unloads();
    threads_.front().unreadable_files = contexts_.unreadable().size();
    add_functions();
    add_off_regions();
    add_contexts();
    add_windows();
    add_names();
    add_command();
    tables_.sort();
}

void ProcessData::add_communicator(const spool::CommunicatorRecord& record, otf2::RankList members)
{
    const Hash128 gid{record.gid[0], record.gid[1]};
    if (record.comm == world_id || record.comm == self_id) {
        gid_keys_[gid] = comm_keys_[record.comm];
        comm_ranks_[record.comm] = static_cast<std::uint32_t>(record.rank);
        return;
    }
    if (record.comm < 0 || record.comm > largest_id) {
        return;
    }
    CommunicatorEntry entry;
    const Hash128 parent_gid{record.parent_gid[0], record.parent_gid[1]};
    const auto parent = gid_keys_.find(parent_gid);
    entry.parent = parent == gid_keys_.end() ? parent_gid : parent->second;
    const bool alone = record.size == 1 && record.is_inter == 0 && spool_.threads.front().header().size > 1;
    if (alone) {
        // Every process may have some of these. The n-th below the same parent is one definition for all of them, so
        // that their number does not grow with the ranks.
        entry.kind = Kind::Alone;
        entry.key = Hasher().add("alone").add(entry.parent).add(alone_[entry.parent]++).result();
    } else {
        entry.kind = record.is_inter != 0 ? Kind::Inter : Kind::Intra;
        entry.key = gid;
        entry.sides.push_back(std::move(members));
        entry.knowers = {{spool_.threads.front().header().rank, 1, 1}};
    }
    gid_keys_[gid] = entry.key;
    comm_keys_[record.comm] = entry.key;
    comm_ranks_[record.comm] = static_cast<std::uint32_t>(record.rank);
    tables_.communicators.push_back(std::move(entry));
}

void ProcessData::add_grid(const spool::GridRecord& record)
{
    CommunicatorEntry& entry = tables_.communicators.back();
    const auto key = comm_keys_.find(record.comm);
    if (entry.kind != Kind::Intra || key == comm_keys_.end() || key->second != entry.key) {
        return;  // its communicator was lost
    }
    std::vector<otf2::GridDimension> grid;
    std::int64_t places = 1;
    std::int64_t ranks = 0;
    for (const otf2::RankRun& run : entry.sides.front()) {
        ranks += run.count;
    }
    for (int i = 0; i < record.dimensions && i < spool::GridRecord::most_dimensions && places <= ranks; ++i) {
        grid.push_back({static_cast<std::uint32_t>(record.size[i]), (record.periodic >> i & 1) != 0});
        places *= record.size[i];
    }
    if (places == ranks) {
        entry.grid = std::move(grid);
    }
}

void ProcessData::add_graph(const spool::GraphRecord& record)
{
    std::set<std::uint32_t>& neighbours = graphs_[record.comm];
    for (std::size_t i = 0; i < record.count && i < std::size(record.in_neighbour); ++i) {
        neighbours.insert(static_cast<std::uint32_t>(record.in_neighbour[i]));
    }
}

void ProcessData::take_samples(const ThreadSpool& spool, ThreadData& thread)
{
    const bool closed = spool.samples && spool.samples->header().closed != 0;
    thread.lost_samples = closed ? spool.samples->header().lost : 0;
    const spool::SampleFormat& format = spool.sampling();
    thread.timer_stopped = format.timer_stopped != 0;
    if (!spool.samples || format.event[0] == '\0') {
        return;
    }
    const std::string event = format.event;
    thread.generator = Hasher().add(event).add(format.period).result();
    thread.period = format.period;
    tables_.generators.push_back({thread.generator, event, format.period});
    add_events(format, thread);
    const spool::SpoolHeader& header = spool.samples->header();
    const DeepStacks deep(spool.samples->body(), header.time_offset);
    unwinder_.begin_thread(deep.images() > 0 ? &deep : nullptr);
    SampleTaker taker(contexts_, unwinder_, format, thread, end_);
    const std::uint64_t lost = read_samples(spool.samples->body(), format, header.time_offset, taker);
    unwinder_.begin_thread(nullptr);
    taker.weigh();
    const std::uint64_t thread_end = std::min(header.thread_end, end_);
    thread.off = taker.off(thread_end);
    if (closed) {
        thread.sampled_ns = std::max(thread_end, header.thread_start) - header.thread_start;
    } else {
        thread.lost_samples = lost;
    }
    // The kernel writes them in order but for a sample that interrupts the writing of another.
    std::stable_sort(thread.samples.begin(), thread.samples.end(), [](auto& a, auto& b) { return a.time < b.time; });
}

void ProcessData::add_events(const spool::SampleFormat& format, ThreadData& thread)
{
    thread.events = event_group(format);
    if (thread.events.names.empty()) {
        return;
    }
    MetricEntry entry{{}, thread.events.names, true};
    Hasher hasher;
    hasher.add("sampled");
    for (const std::string& name : entry.names) {
        hasher.add(name);
    }
    thread.event_metric = entry.key = hasher.result();
    tables_.metrics.push_back(std::move(entry));
}

void ProcessData::add_functions()
{
    for (std::uint16_t id = 0; id < static_cast<std::uint16_t>(FunctionId::count); ++id) {
        if (used_[id]) {
            RegionEntry entry;
            entry.function = FunctionId{id};
            entry.key = function_key(entry.function);
            tables_.regions.push_back(std::move(entry));
        }
    }
    // Others were asked about only.
    std::vector<bool> has_context(contexts_.functions().size());
    for (const Context& context : contexts_.contexts()) {
        has_context[context.function] = true;
    }
    for (std::size_t i = 0; i < has_context.size(); ++i) {
        const Function& function = contexts_.functions()[i];
        if (function.mpi != FunctionId::none || !has_context[i]) {
            continue;
        }
        RegionEntry entry;
        entry.key = function.key;
        entry.canonical_name = function.canonical_name;
        entry.module = function.module;
        entry.mark = function.mark;
        tables_.regions.push_back(std::move(entry));
        if (!function.module.empty()) {
            const Hash128 key = Hasher().add(function.module).add(function.build_id).result();
            tables_.modules.push_back({key, function.module, function.build_id});
        }
    }
}

void ProcessData::add_off_regions()
{
    for (const bool preempted : {true, false}) {
        const auto is_so = [preempted](const OffInterval& off) { return off.preempted == preempted; };
        const auto has_one = [&](const ThreadData& t) { return std::any_of(t.off.begin(), t.off.end(), is_so); };
        if (std::any_of(threads_.begin(), threads_.end(), has_one)) {
            RegionEntry entry;
            entry.canonical_name = preempted ? otf2::preempted_region : otf2::blocked_region;
            entry.key = off_key(entry.canonical_name.c_str());
            tables_.contexts.push_back({entry.key, entry.key, {}});
            tables_.regions.push_back(std::move(entry));
        }
    }
}

void ProcessData::add_contexts()
{
    const std::vector<Context>& contexts = contexts_.contexts();
    for (const Context& context : contexts) {
        const Hash128 parent = context.parent == Context::no_parent ? Hash128{} : contexts[context.parent].key;
        tables_.contexts.push_back(
            {context.key, contexts_.functions()[context.function].key, parent, context.depth, context.site});
    }
}

void ProcessData::add_command()
{
    command_ = split_command(spool_.threads.front().header().command);
    for (const std::string& word : command_) {
        tables_.strings.push_back({text_key(word), word});
    }
}

EventIds ProcessData::resolve(const Numbers& numbers) const
{
    EventIds ids;
    const auto find_context = [&](const Hash128& key) {
        const std::uint32_t at = position(tables_.contexts, key);
        return at < tables_.contexts.size() && tables_.contexts[at].key == key ? numbers.contexts[at] : otf2::none;
    };
    for (const auto& [id, key] : comm_keys_) {
        ids.comms.resize(std::max<std::size_t>(ids.comms.size(), id + std::size_t{1}), otf2::none);
        ids.comms[id] = numbers.communicators[position(tables_.communicators, key)];
    }
    for (const Context& context : contexts_.contexts()) {
        ids.contexts.push_back(numbers.contexts[position(tables_.contexts, context.key)]);
    }
    for (const ThreadData& thread : threads_) {
        ids.generators.push_back(thread.generator.is_zero()
                                     ? otf2::none
                                     : numbers.generators[position(tables_.generators, thread.generator)]);
    }
    const auto find_metric = [&](const Hash128& key) {
        return key.is_zero() ? otf2::none : numbers.metrics[position(tables_.metrics, key)];
    };
    for (const ThreadData& thread : threads_) {
        ids.metrics.push_back(find_metric(thread.metric));
        ids.event_metrics.push_back(find_metric(thread.event_metric));
    }
    resolve_objects(numbers, ids);
    ids.preempted = find_context(off_key(otf2::preempted_region));
    ids.blocked = find_context(off_key(otf2::blocked_region));
    for (const std::string& word : command_) {
        ids.arguments.push_back(numbers.strings[position(tables_.strings, text_key(word))]);
    }
    if (!ids.arguments.empty()) {
        ids.program = ids.arguments.front();
        ids.arguments.erase(ids.arguments.begin());
    }
    return ids;
}

}  // namespace critpath::archive

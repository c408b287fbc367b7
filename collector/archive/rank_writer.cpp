// SPDX-FileCopyrightText: the critpath authors
// SPDX-License-Identifier: BSD-3-Clause
#include "collector/archive/rank_writer.hpp"

#include "collector/archive/event_merge.hpp"
#include "formats/functions/functions.hpp"
#include "formats/spool/stack_image.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace critpath::archive
{

namespace
{

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

void add_kernel_counts(otf2::LocationDefinition& location, const OffTotals& off, const spool::SampleFormat& sampling)
{
    const std::pair<const char*, std::uint64_t> counts[] = {
        {"preempted_ns", off.preempted_ns}, {"preemptions", off.preemptions},
        {"woken_ns", off.woken_ns},         {"wake_ups", off.wake_ups},
        {"blocked_ns", off.blocked_ns},     {"blocks", off.blocks},
        {"bridged_ns", off.bridged_ns},     {"bridges", off.bridges},
        {"migrations", off.migrations},     {"page_faults", sampling.page_faults},
    };
    for (const auto& [name, count] : counts) {
        if (count > 0) {
            location.counts[name] = count;
        }
    }
}

/// Threads that have not named themselves have the name of who made them: the first one of the process, mostly.
void describe_thread(otf2::LocationDefinition& location, const ProcessSpool& process, const ThreadSpool& thread)
{
    const std::string_view name = thread.name();
    if (!name.empty() && name != process.threads.front().name()) {
        location.texts["thread_name"] = name;
    }
}

void describe_sampling(otf2::LocationDefinition& location, const ThreadData& data, const spool::SampleFormat& sampling)
{
    if (data.generator.is_zero()) {
        location.texts["no_samples"] =
            sampling.why_not != 0 ? std::strerror(static_cast<int>(sampling.why_not)) : "off";
    } else if (!otf2::is_time_event(sampling.event) && sampling.counted > 0) {
        location.numbers["ns_per_count"] =
            static_cast<double>(sampling.time_running) / static_cast<double>(sampling.counted);
    }
    if (!data.generator.is_zero() && sampling.run_delay == 0 && std::string_view(sampling.event) != "cpu-timer") {
        location.counts["no_run_delay"] = 1;
    }
    if (!data.events.missing.empty()) {
        location.texts["no_events"] = fmt::format("{}", fmt::join(data.events.missing, ","));
    }
}

std::string names_of_groups(std::uint32_t bits)
{
    std::string names;
    for (unsigned group = 1; group < functions::group_count; ++group) {
        if ((bits >> group & 1U) != 0) {
            names += fmt::format("{}{}", names.empty() ? "" : ",", functions::group_names[group]);
        }
    }
    return names;
}

std::string_view words_for(spool::Refusal why)
{
    const auto which = static_cast<std::size_t>(why);
    return which < std::size(spool::refusal_names) ? spool::refusal_names[which] : "failed";
}

/// What was to be counted on the process and is not: that of its first thread, since later ones do as that does.
std::string refused_events(const ThreadSpool& thread)
{
    std::vector<std::string> refused;
    if (thread.samples) {
        for (const spool::RefusedEvent& event : thread.samples->header().refused_events) {
            if (event.name[0] != '\0') {
                refused.push_back(fmt::format("{}={}", event.name, words_for(event.why)));
            }
        }
    }
    if (thread.calls) {
        const spool::SpoolHeader& header = thread.calls->header();
        for (std::size_t i = header.counter_count; i < spool::max_counters; ++i) {
            if (header.counters[i][0] != '\0') {
                refused.push_back(fmt::format("{}={}", header.counters[i], words_for(header.counter_refusal[i])));
            }
        }
    }
    return fmt::format("{}", fmt::join(refused, ","));
}

std::string call_graph_name(const spool::SampleFormat& sampling)
{
    const auto mode = static_cast<std::size_t>(sampling.call_graph);
    if (mode >= std::size(spool::call_graph_names)) {
        return "";
    }
    const bool is_usual =
        sampling.call_graph != spool::CallGraph::Dwarf || sampling.stack_bytes == spool::StackImage::usual_copy;
    return is_usual ? spool::call_graph_names[mode]
                    : fmt::format("{},{}", spool::call_graph_names[mode], sampling.stack_bytes);
}

std::string precise_ip_of(const spool::SampleFormat& sampling)
{
    return otf2::is_time_event(sampling.event) ? "" : std::to_string(sampling.precise_ip);
}

// Equal where the clock is the same: processes in different time namespaces of one machine have different ones.
std::string clock_domain(const spool::SpoolHeader& header)
{
    return header.time_offset == 0 ? header.boot_id : fmt::format("{}{:+}", header.boot_id, header.time_offset);
}

class RankWriter
{
public:
    RankWriter(otf2::Archive& archive, std::uint32_t rank, const ProcessData& process, const EventIds& ids)
        : archive_(archive), rank_(rank), process_(process), ids_(ids)
    {
    }

    WrittenRank write()
    {
        summary_.begin = never;
        summary_.ended = is_finalized() ? RankEnd::Finalized : RankEnd::Exited;
        for (std::size_t i = 0; i < process_.spool().threads.size(); ++i) {
            const OTF2_LocationRef location = otf2::location_reference(rank_, process_.spool().threads[i].thread);
            otf2::EventWriter writer = archive_.event_writer(location);
            const EventCounts counts = write_events(process_, i, ids_, writer);
            const std::uint64_t events = archive_.finish(writer);
            add_location(i, counts, writer, events);
        }
        describe_process();
        out_.clocks = process_.clocks();
        return std::move(out_);
    }

private:
    [[nodiscard]] bool is_finalized() const { return process_.end() != never; }

    void add_location(std::size_t position, const EventCounts& counts, const otf2::EventWriter& writer,
                      std::uint64_t events)
    {
        const ThreadSpool& spool = process_.spool().threads[position];
        const ThreadData& data = process_.threads()[position];
        otf2::LocationDefinition location;
        location.rank = rank_;
        location.thread = spool.thread;
        location.events = events;
        if (data.lost_records > 0) {
            location.counts["lost_records"] = data.lost_records;
        }
        if (counts.unresolved > 0) {
            location.counts["unresolved_records"] = counts.unresolved;
        }
        if (counts.foreign > 0) {
            location.counts["foreign_operations"] = counts.foreign;
        }
        if (data.lost_samples > 0) {
            location.counts["lost_samples"] = data.lost_samples;
        }
        if (data.timer_stopped) {
            location.counts["stopped_timers"] = 1;
        }
        if (data.unseen_unloads > 0) {
            location.counts["unseen_unloads"] = data.unseen_unloads;
        }
        if (data.unreadable_files > 0) {
            location.counts["replaced_files"] = data.unreadable_files;
        }
        if (data.respite_ns > 0) {
            location.counts["respite_ns"] = data.respite_ns;
        }
        if (data.wait_respite_ns > 0) {
            location.counts["wait_respite_ns"] = data.wait_respite_ns;
        }
        if (writer.clipped() > 0) {
            location.counts["clipped_times"] = writer.clipped();
        }
        describe_thread(location, process_.spool(), spool);
        describe_sampling(location, data, spool.sampling());
        summary_.left_out = names_of_groups(spool.header().left_out);
        if (!data.generator.is_zero()) {
            summary_.call_graph = call_graph_name(spool.sampling());
            summary_.precise_ip = precise_ip_of(spool.sampling());
        }
        add_kernel_counts(location, counts.off, spool.sampling());
        describe_end(location, data.lost_records > 0, spool.is_closed());
        summary_.locations.push_back(std::move(location));
        if (writer.has_events()) {
            summary_.begin = std::min(summary_.begin, writer.first_time());
            summary_.end = std::max(summary_.end, writer.last_time());
        }
        out_.calls += counts.calls;
        out_.samples += counts.samples;
        out_.events += events;
        out_.lost_records += data.lost_records;
        out_.damaged_records += data.damaged_records;
        out_.lost_samples += data.lost_samples;
        out_.cut_samples += data.cut_samples;
        out_.sampled_ns += data.sampled_ns;
        out_.respite_ns += data.sampled_ns > 0 ? data.respite_ns : 0;
    }

    // After MPI_Finalize there is nothing more that could be missing.
    void describe_end(otf2::LocationDefinition& location, bool is_full, bool is_closed)
    {
        if (is_full) {
            location.texts["incomplete"] = "full";
            summary_.ended = std::max(summary_.ended, RankEnd::Full);
        } else if (!is_closed && !is_finalized()) {
            location.texts["incomplete"] = "died";
            summary_.ended = std::max(summary_.ended, RankEnd::Died);
        }
    }

    void describe_process()
    {
        const spool::SpoolHeader& header = process_.spool().threads.front().header();
        summary_.process.host = header.host;
        summary_.process.properties = {{"host", header.host},
                                       {"boot_id", clock_domain(header)},
                                       {"pid", std::to_string(header.pid)},
                                       {"command", fmt::format("{}", fmt::join(process_.command(), " "))}};
        if (std::string refused = refused_events(process_.spool().threads.front()); !refused.empty()) {
            summary_.process.properties["refused_events"] = std::move(refused);
        }
        summary_.realtime = header.realtime + (summary_.begin - header.process_start);
        // From here on, times of the clock that all locations share.
        const otf2::ClockCorrection correction(process_.clocks());
        if (summary_.begin > summary_.end) {
            return;  // no events
        }
        for (std::uint64_t* time : {&summary_.begin, &summary_.end}) {
            *time = static_cast<std::uint64_t>(std::max<std::int64_t>(0, correction.to_shared(*time)));
        }
    }

    otf2::Archive& archive_;
    std::uint32_t rank_;
    const ProcessData& process_;
    const EventIds& ids_;
    WrittenRank out_;
    ProcessSummary& summary_ = out_.summary;
};

}  // namespace

WrittenRank write_rank(otf2::Archive& archive, std::uint32_t rank, const ProcessData& process, const EventIds& ids)
{
    return RankWriter(archive, rank, process, ids).write();
}

WrittenRank write_missing_rank(otf2::Archive& archive, std::uint32_t rank)
{
    WrittenRank written;
    otf2::EventWriter writer = archive.event_writer(otf2::location_reference(rank, 0));
    archive.finish(writer);
    otf2::LocationDefinition location;
    location.rank = rank;
    location.texts = {{"incomplete", "missing"}, {"no_samples", "off"}};
    written.summary.locations.push_back(std::move(location));
    written.summary.ended = RankEnd::Missing;
    written.summary.begin = never;
    written.summary.process.host = "unknown";
    return written;
}

}  // namespace critpath::archive
